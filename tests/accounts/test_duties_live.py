"""`manage.py audit verify` compares duties with what the events tell of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from accounts.duties import services
from accounts.duties.models import DutyAssignment
from accounts.duties.table import Duty
from accounts.replay import LEDGERS
from audit import exports, live
from audit.exports import Selection
from audit.queries import verifier_keys
from client.audit.main import main as lgbench_audit
from tests.accounts.duties import Office, acting, opened
from tests.servers import Servers

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
OURS = ("accounts_dutyassignment", "accounts_dutyceremony")


@pytest.fixture
def row(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> DutyAssignment:
    """A confirmed and reviewed duty; another one was ended, a third only proposed."""
    kept = [ledger for ledger in LEDGERS if ledger.table in OURS]
    assert len(kept) == len(OURS)
    monkeypatch.setattr(live, "ledgers", lambda: kept)
    office: Office = opened()
    person = office.holder(Duty.TASK_AUTHOR)
    services.end(person.duties.get(), reason="x", by=acting(office.first))
    office.propose(person, Duty.ARBITER)
    row = office.give(office.holder(Duty.IDENTITY_REVIEWER), Duty.SCORING_MAINTAINER)
    services.review(row, reason="x", by=acting(office.first))
    return row


@contextmanager
def unguarded(servers: Servers) -> Iterator[psycopg.Connection[Any]]:
    with servers.superuser(servers.database) as connection:
        for table in OURS:
            connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        yield connection
        for table in OURS:
            connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE accounts_dutyassignment SET duty = 'arbiter' WHERE id = %s", "duty is 'arbiter'"),
        ("UPDATE accounts_dutyassignment SET ends_at = ends_at - interval '1 day' WHERE id = %s", "ends is"),
        (
            "UPDATE accounts_dutyassignment SET ended_at = now(), ended_by = assigned_by WHERE id = %s",
            "ended",
        ),
        ("DELETE FROM accounts_dutyassignment WHERE id = %s", "the row is gone"),
        (
            'UPDATE accounts_dutyceremony SET "first" = (SELECT person FROM accounts_dutyassignment WHERE id = %s)',
            "first is",
        ),
    ],
)
def test_a_duty_changed_behind_the_triggers_is_found(
    row: DutyAssignment, sequence: Callable[[], int], servers: Servers, change: str, what: str
) -> None:
    sequence()
    assert live.check(None).ok
    with unguarded(servers) as database:
        database.execute(change, [row.id])
    found = [finding.what for finding in live.check(None).findings]
    assert len(found) == 1
    assert what in found[0]


def test_what_the_services_write_is_what_the_verifier_accepts(
    row: DutyAssignment, sequence: Callable[[], int], tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    sequence()
    exports.write(tmp_path / "all", Selection())
    (tmp_path / "log.key").write_text("".join(f"{key}\n" for key in verifier_keys()))
    code = lgbench_audit(["verify", str(tmp_path / "all"), "--key", str(tmp_path / "log.key"), "--strict"])
    assert (code, "duty" in capsys.readouterr().out) == (0, False)
