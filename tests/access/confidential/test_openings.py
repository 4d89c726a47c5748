"""Packages stay sealed: two people open one in a case for some hours; the vendor is told; at its date it is gone."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.conf import settings as site_settings
from django.db import connections

from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from accounts.models import User
from accounts.notices.models import Notice
from audit.events import system
from config import clock, store, vault
from evaluation import packages
from submissions.confidentiality import services
from submissions.confidentiality.models import PackageDeletion, PackageOpening
from submissions.models import Submission
from submissions.problems import Code, Refused
from submissions.services.checking import check
from tests.accounts.duties import acting, opened
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
BY = system("packages")
REASON = "case 17: who caused the crash"


@pytest.fixture
def vendor(servers: Any) -> world.Vendor:
    store.ensure_buckets()
    return world.vendor()


@pytest.fixture
def submission(vendor: world.Vendor) -> Submission:
    """One whose package was checked and sealed."""
    found = vendor.submit(site.task_set(), vendor.harness())
    check(found.id)
    return Submission.objects.get(pk=found.pk)


@pytest.fixture
def engineer() -> User:
    return opened().holder(Duty.EVALUATION_ENGINEER)


@pytest.fixture
def arbiter() -> User:
    return opened().holder(Duty.ARBITER)


def proposed(submission: Submission, by: User, hours: int = 24) -> PackageOpening:
    return services.propose(submission.id, hours=hours, reason=REASON, by=acting(by))


def lent(submission: Submission, engineer: User, arbiter: User, hours: int = 24) -> PackageOpening:
    row = services.approve(proposed(submission, engineer, hours).id, by=acting(arbiter))
    services.lend_key(row.id, by=BY)
    return row


def kinds(connect_as: Connect) -> list[str]:
    rows = connect_as("auditor").execute(
        "SELECT kind FROM audit_event WHERE kind LIKE 'package.%' ORDER BY id"
    )
    return [kind for (kind,) in rows]


def test_from_the_proposal_to_the_end_on_the_console(
    submission: Submission, engineer: User, arbiter: User, connect_as: Connect
) -> None:
    one, two = signed_in(engineer), signed_in(arbiter)
    facts = {"submission": str(submission.id), "hours": 24, "reason": REASON}
    assert one.post(address("console:package_new"), facts).status_code == 302
    row = PackageOpening.objects.get()
    read = address("console:package_read", row.id)
    assert one.post(read).status_code == 409
    assert one.post(address("console:package_act", row.id, "approve")).status_code == 409
    assert two.post(address("console:package_act", row.id, "approve")).status_code == 302
    waiting = one.post(read)
    assert (waiting.status_code, b"opening_not_ready" in waiting.content) == (409, True)
    services.end_overdue(by=BY)  # the sweep finds the lost ticket
    answer = one.post(read)
    assert answer.status_code == 200
    data = b"".join(answer.streaming_content)
    assert gzip.decompress(data)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert two.post(address("console:package_act", row.id, "end")).status_code == 302
    assert one.post(read).status_code == 409
    assert kinds(connect_as) == [
        *("package.opening_proposed", "package.opening_approved", "package.key_lent"),
        *("package.read", "package.opening_ended"),
    ]
    row.refresh_from_db()
    assert bytes(row.boxed_key) == b""
    told = Notice.objects.get(kind="package.opened")
    assert (told.person, told.subject) == (submission.account, str(submission.id))
    events = (
        connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind LIKE 'package.%'").fetchall()
    )
    assert REASON not in json.dumps([str(body) for body in events])


def test_a_reading_that_cannot_be_recorded_does_not_happen(
    submission: Submission,
    engineer: User,
    arbiter: User,
    connect_as: Connect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = lent(submission, engineer, arbiter)
    fetched: list[str] = []
    monkeypatch.setattr(services.store, "fetch_sealed", lambda *a, **k: fetched.append(a[1]))
    connect_as("owner").execute(
        "REVOKE INSERT (body) ON audit_event FROM lingee_web, lingee_execute, lingee_sealed, lingee_console"
    )
    assert signed_in(engineer).post(address("console:package_read", row.id)).status_code >= 500
    assert fetched == []


def test_the_hours_end_it_and_the_vendor_is_told(
    submission: Submission, engineer: User, arbiter: User
) -> None:
    row = lent(submission, engineer, arbiter, hours=2)
    with clock.shifted(timedelta(hours=1)):
        services.end_overdue(by=BY)
        assert not Notice.objects.filter(kind="package.opened").exists()
    with clock.shifted(timedelta(hours=2, seconds=1)):
        with pytest.raises(Refused):
            services.read_package(row.id, open("/dev/null", "wb"), by=acting(engineer))  # noqa: SIM115
        for _ in range(2):
            services.end_overdue(by=BY)
    row.refresh_from_db()
    assert row.ended_at is not None
    assert bytes(row.boxed_key) == b""
    assert Notice.objects.filter(kind="package.opened").count() == 1


def test_a_proposal_that_is_withdrawn_tells_nobody(submission: Submission, engineer: User) -> None:
    services.end(proposed(submission, engineer).id, by=acting(engineer))
    assert not Notice.objects.filter(kind="package.opened").exists()
    assert proposed(submission, engineer).ended_at is None


def test_who_may_not(submission: Submission, engineer: User, arbiter: User, vendor: world.Vendor) -> None:
    office = opened()
    with pytest.raises(DutyRefused, match="decision_not_entitled"):
        proposed(submission, office.first)
    row = proposed(submission, engineer)
    for wrong in (engineer, office.first):
        with pytest.raises(DutyRefused):
            services.approve(row.id, by=acting(wrong))
    services.approve(row.id, by=acting(arbiter))
    services.lend_key(row.id, by=BY)
    other = office.holder(Duty.EVALUATION_ENGINEER)
    refused = signed_in(other).post(address("console:package_read", row.id))
    assert (refused.status_code, b"decision_not_entitled" in refused.content) == (409, True)
    assert signed_in(vendor.user).post(address("console:package_read", row.id)).status_code == 404


@pytest.mark.parametrize("hours", [0, 73, 1000])
def test_no_longer_than_three_days(submission: Submission, engineer: User, hours: int) -> None:
    with pytest.raises(Refused):
        proposed(submission, engineer, hours)


def test_the_database_holds_both_people_and_the_hours(
    submission: Submission, engineer: User, arbiter: User, connect_as: Connect
) -> None:
    row = proposed(submission, engineer)
    console = connect_as("console")
    for change, error in (
        (
            "approved_by = proposed_by, approved_at = now(), closes_at = now() + interval '1 hour'",
            "two_people",
        ),
        (
            f"approved_by = '{arbiter.pseudonym}', approved_at = now(), closes_at = now() + interval '25 hours'",
            "seventy_two",
        ),
        ("boxed_key = 'x'", "key_while_open"),
    ):
        with pytest.raises(psycopg.errors.CheckViolation, match=error):
            console.execute(f"UPDATE submissions_packageopening SET {change}")
    services.approve(row.id, by=acting(arbiter))
    for change in ("closes_at = closes_at - interval '1 hour'", "approved_at = now()"):
        with pytest.raises(psycopg.errors.IntegrityError, match="never changes"):
            console.execute(f"UPDATE submissions_packageopening SET {change}")
    for role in ("web", "execute"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT boxed_key FROM submissions_packageopening")


def test_the_console_opens_that_package_by_the_lent_key_only(
    submission: Submission, engineer: User, arbiter: User, connect_as: Connect
) -> None:
    row = lent(submission, engineer, arbiter)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("console").execute("SELECT wrapped_upload_key FROM evaluation_storedpackage")
    row.refresh_from_db()
    key = site_settings.VAULT_KEY_CASE or b""
    assert len(vault.open_box(bytes(row.boxed_key), private=key, about=row.id.bytes)) == 32
    with pytest.raises(vault.SealBroken):
        vault.open_box(bytes(row.boxed_key), private=key, about=submission.id.bytes)


def test_two_who_propose_at_once_get_one_opening(
    submission: Submission, engineer: User, arbiter: User
) -> None:
    barrier = threading.Barrier(2)
    made: list[object] = []

    def run(who: User) -> None:
        barrier.wait()
        try:
            made.append(proposed(submission, who).id)
        except Refused as refused:
            made.append(refused.refusal.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(who,)) for who in (engineer, arbiter)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made.count(Code.OPENING_EXISTS) == 1
    assert PackageOpening.objects.count() == 1


# --- deletion ----------------------------------------------------------------------------------------


@pytest.fixture
def ended(submission: Submission, vendor: world.Vendor) -> Submission:
    from submissions.services import cancel

    cancel(submission.id, by=vendor.actor)
    return Submission.objects.get(pk=submission.pk)


def test_at_its_date_keys_and_bytes_are_destroyed_and_the_digest_stays(
    ended: Submission, vendor: world.Vendor, connect_as: Connect
) -> None:
    package = ended.package
    assert package is not None
    page = signed_in(vendor.user).get(address("submissions:submission", ended.id)).content.decode()
    assert "Bundle kept, sealed" in page
    with clock.shifted(timedelta(days=179)):
        assert services.delete_due(by=BY) == 0
    assert packages.submission_key(package)
    with clock.shifted(timedelta(days=180, seconds=1)):
        assert [services.delete_due(by=BY) for _ in range(2)] == [1, 0]
        page = signed_in(vendor.user).get(address("submissions:submission", ended.id)).content.decode()
    assert "deleted" in page.partition("Bundle kept, sealed")[2][:200]
    package.refresh_from_db()
    for opening in (
        packages.submission_key,
        lambda row: vault.unwrap(row.wrapped_upload_key, under=b"0" * 32),
    ):
        with pytest.raises(vault.SealBroken):
            opening(package)
    with pytest.raises(store.ObjectMissing):
        store.fetch(site_settings.S3_BUCKET_PACKAGES, package.object_key, open("/dev/null", "wb"))  # noqa: SIM115
    ended.refresh_from_db()
    assert ended.package_digest
    assert kinds(connect_as) == ["package.deleted"]
    assert Notice.objects.filter(kind="package.deleted").count() == 1
    with pytest.raises(psycopg.errors.IntegrityError, match="stays deleted"):
        connect_as("owner").execute("DELETE FROM submissions_packagedeletion")


def test_an_open_case_holds_it(ended: Submission, engineer: User, arbiter: User, settings: Any) -> None:
    settings.PACKAGE_RETENTION_DAYS = 10
    row = lent(ended, engineer, arbiter)
    with clock.shifted(timedelta(days=20)):
        assert services.delete_due(by=BY) == 0
        services.end_overdue(by=BY)
        assert services.delete_due(by=BY) == 1
        with pytest.raises(Refused) as refused:
            proposed(ended, engineer)
    assert refused.value.refusal.code is Code.PACKAGE_NOT_THERE
    row.refresh_from_db()
    assert row.ended_at is not None


def test_a_store_that_is_down_leaves_it_for_the_next_time(
    ended: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(bucket: str, key: str) -> None:
        raise ConnectionError

    with clock.shifted(timedelta(days=181)):
        with monkeypatch.context() as patch:
            patch.setattr(services.store, "delete", down)
            with pytest.raises(ConnectionError):
                services.delete_due(by=BY)
        assert not PackageDeletion.objects.exists()
        assert services.delete_due(by=BY) == 1


def test_what_is_not_over_is_kept(submission: Submission) -> None:
    with clock.shifted(timedelta(days=999)):
        assert services.delete_due(by=BY) == 0


def test_a_proposal_alone_holds_nothing_and_lapses(
    ended: Submission, engineer: User, arbiter: User, settings: Any
) -> None:
    settings.PACKAGE_RETENTION_DAYS = 10
    row = proposed(ended, engineer)
    with clock.shifted(timedelta(days=11)):
        assert services.delete_due(by=BY) == 1
        with pytest.raises(Refused) as refused:
            services.approve(row.id, by=acting(arbiter))
        assert refused.value.refusal.code in (Code.PACKAGE_NOT_THERE, Code.OPENING_IS_OVER)
        services.end_overdue(by=BY)
    row.refresh_from_db()
    assert row.ended_at is not None
    assert not Notice.objects.filter(kind="package.opened").exists()
