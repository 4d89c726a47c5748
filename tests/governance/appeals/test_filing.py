"""What can be appealed against, until when and how often; and that filing is one act with its event and deadline."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from accounts import services as accounts
from accounts.models import Membership
from accounts.notices.models import Notice
from benchmark.models import TaskSetVersion
from config import clock, workdays
from governance.appeals import queries, services
from governance.appeals.models import Appeal
from submissions.models import Submission
from submissions.problems import Refused
from tests.accounts.duties import acting
from tests.factories import BY
from tests.governance.appeals import arranged
from tests.governance.appeals.arranged import COMMITMENT, claim, filed, held, later, released
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> TaskSetVersion:
    return site.task_set(line=9, lineage=9, account=9, in_flight=9)


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def complete(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    return released(vendor, version)


def refused(vendor: world.Vendor, version: TaskSetVersion, **facts: Any) -> str:
    with pytest.raises(Refused) as caught:
        services.file(claim(vendor, version, **facts), by=vendor.actor, key=f"k{Appeal.objects.count()}")
    return caught.value.refusal.code.value


def test_an_appeal_is_filed_with_a_deadline_and_its_vendor_is_told(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    row = filed(vendor, version, submission=complete)
    assert (row.state, row.escalations) == ("filed", 0)
    assert row.due_at == workdays.after(row.filed_at, 2)
    assert row.facts == {"state": "complete", "code": complete.reason_code}
    told = Notice.objects.get(kind="appeal.filed")
    assert (told.person, told.facts["appeal"]) == (vendor.user, str(row.id))
    face = queries.face(row)
    assert (face["turn"], face["ruling"], face["may_withdraw"]) == ("deciders", None, True)


def test_the_same_key_files_once(vendor: world.Vendor, version: TaskSetVersion, complete: Submission) -> None:
    first, again = (filed(vendor, version, submission=complete) for _ in range(2))
    assert first.id == again.id
    assert refused(vendor, version, submission=complete) == "appeal_exists"
    with pytest.raises(Refused, match="idempotency_conflict"):
        filed(vendor, version, submission=complete, grounds="Something else.")


def test_what_there_is_not_cannot_be_appealed_against(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    under_way = site.submission(vendor, version, "other")
    score = {"subject": "score", "domain": "finance", "commitment": COMMITMENT}
    assert refused(vendor, version, **score, submission=under_way) == "appeal_nothing"
    assert refused(vendor, version, **score) == "appeal_nothing"
    assert refused(vendor, version, subject="hold", submission=complete) == "appeal_nothing"
    assert refused(vendor, version, subject="fault") == "appeal_nothing"
    assert refused(vendor, version, submission=complete, grounds=" ") == "invalid_field"
    assert refused(vendor, version, submission=complete, domain="finance") == "invalid_field"
    without = score | {"commitment": "x"}
    assert refused(vendor, version, **without, submission=complete) == "appeal_commitment"
    assert not Appeal.objects.exists()


def test_the_window_ends_thirty_days_after_the_release(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    score: dict[str, Any] = {
        "subject": "score",
        "domain": "finance",
        "commitment": COMMITMENT,
        "submission": complete,
    }
    with later(30, seconds=1):
        assert refused(vendor, version, **score) == "appeal_window"
        assert queries.appealable_until(complete) is None
    with later(29):
        assert filed(vendor, version, **score).facts == {"value": 51, "h": 11}
        assert queries.appealable_until(complete) is not None


def test_a_hold_is_appealed_against_while_it_lasts_however_long(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    found = held(vendor, version)
    with later(40):
        assert filed(vendor, version, subject="hold", submission=found).facts["state"] == "held"


def test_two_are_free_and_those_that_were_won_or_withdrawn_early_do_not_count(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    staff = arranged.bench()
    won = filed(vendor, version, "1", submission=complete)
    arranged.ruled(won, staff, "partly")
    early = filed(vendor, version, "2", subject="rule")
    services.withdraw(early.id, by=vendor.actor)
    assert queries.spent(vendor.organisation, version) == 0
    for number in range(2):
        filed(vendor, version, f"r{number}", subject="rule")
    assert refused(vendor, version, subject="quota") == "appeal_limit"
    stranger = world.vendor()
    assert filed(stranger, version, "s", subject="quota").state == "filed"


def test_at_once_no_more_than_two_are_filed(transactional_db: None) -> None:
    vendor, version = world.vendor(), site.task_set()
    barrier = threading.Barrier(4)

    def ask(number: int) -> str:
        try:
            barrier.wait(30)
            return filed(vendor, version, f"k{number}", subject="rule").state
        except Refused as error:
            return error.refusal.code.value
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(pool.map(ask, range(4)))
    assert answers == ["appeal_limit", "appeal_limit", "filed", "filed"]


def test_viewers_and_the_suspended_file_none_and_withdraw_none(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    row = filed(vendor, version, subject="rule")
    viewer = world.enrolled(world.person("viewer"))
    accounts.add_member(vendor.organisation, viewer, Membership.Role.VIEWER, by=BY)
    by = accounts.actor_for(viewer, channel="web", organisation=vendor.organisation)
    with pytest.raises(Refused, match="role_may_not_submit"):
        services.file(claim(vendor, version, subject="rule"), by=by, key="v")
    with pytest.raises(Refused, match="role_may_not_submit"):
        services.withdraw(row.id, by=by)
    accounts.suspend_organisation(vendor.organisation, by=BY)
    with pytest.raises(Refused, match="organisation_suspended"):
        services.withdraw(row.id, by=vendor.actor)


def test_it_can_be_withdrawn_until_it_is_ruled_on(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    staff = arranged.bench()
    row = arranged.drafted(filed(vendor, version, submission=complete), staff)
    assert [services.withdraw(row.id, by=vendor.actor).state for _ in range(2)] == ["withdrawn"] * 2
    with pytest.raises(Refused, match="appeal_moved_on"):
        services.approve(row.id, by=acting(staff.arbiter))
    other = arranged.ruled(filed(vendor, version, "2", submission=complete), staff)
    with pytest.raises(Refused, match="appeal_over"):
        services.withdraw(other.id, by=vendor.actor)
    assert clock.now() >= other.state_since
