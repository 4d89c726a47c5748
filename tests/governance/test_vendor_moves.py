"""Where vendors are served nothing moves an appeal, a re-check or a confirmation run on, whatever its programs do."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection
from django.db.utils import ProgrammingError

from governance.appeals import services
from governance.appeals.models import Appeal, Recheck
from tests.accounts.duties import acting
from tests.factories import BY, recorded_as
from tests.governance.appeals.arranged import COMMITMENT, WORD, bench, filed, released
from tests.governance.confirming import asked, row_of
from tests.governance.test_silences import answer, opened
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


def as_web(statement: str, subject_type: str, subject: UUID) -> None:
    """One statement under the role of the process that serves vendors, with an event about its subject."""
    with recorded_as(subject_type, subject), connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE lingee_web")
        cursor.execute(statement, [subject])
        cursor.execute("RESET ROLE")


def refused(statement: str, subject_type: str, subject: UUID) -> None:
    with pytest.raises(ProgrammingError, match="vendor"):
        as_web(statement, subject_type, subject)


def test_an_appeal_is_withdrawn_and_nothing_else() -> None:
    version, vendor = site.task_set(), world.vendor()
    row = filed(vendor, version, submission=released(vendor, version))
    table = "UPDATE appeals_appeal SET"
    refused(f"{table} state = 'admitted', cause = 'found_admissible' WHERE id = %s", "appeal", row.id)
    refused(f"{table} due_at = due_at + interval '900 days' WHERE id = %s", "appeal", row.id)
    as_web(
        f"{table} state = 'withdrawn', cause = 'withdrawn_by_vendor', due_at = NULL, ended_at = now() WHERE id = %s",
        "appeal",
        row.id,
    )
    assert Appeal.objects.get(pk=row.pk).state == "withdrawn"


def test_of_a_recheck_the_word_is_given_and_nothing_else() -> None:
    version, vendor, staff = site.task_set(), world.vendor(), bench()
    facts = {"subject": "score", "domain": "finance", "commitment": COMMITMENT}
    row = filed(vendor, version, submission=released(vendor, version), **facts)
    services.admit(row.id, by=acting(staff.engineer))
    services.advance_recheck(row.id, by=BY)
    table = "UPDATE appeals_recheck SET"
    refused(f"{table} state = 'lapsed' WHERE appeal_id = %s", "appeal", row.id)
    as_web(f"{table} state = 'revealed', word = '{WORD}' WHERE appeal_id = %s", "appeal", row.id)
    refused(f"{table} state = 'drawn' WHERE appeal_id = %s", "appeal", row.id)
    assert Recheck.objects.get(appeal=row).state == "revealed"


def test_a_confirmation_run_is_withdrawn_and_nothing_else() -> None:
    version, vendor = opened(), world.vendor()
    submission = answer(vendor, version)
    assert asked(vendor, submission).status == 202
    row = row_of(submission)
    table = "UPDATE governance_confirmationrun SET"
    refused(f"{table} state = 'queued', cause = 'allowed' WHERE id = %s", "confirmation", row.id)
    as_web(
        f"{table} state = 'withdrawn', cause = 'withdrawn_by_vendor', ended_at = now() WHERE id = %s",
        "confirmation",
        row.id,
    )
    assert row_of(submission).state == "withdrawn"
