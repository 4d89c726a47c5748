"""A vendor with something to appeal against, and the staff that rules on it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from accounts.duties.table import Duty
from accounts.models import User
from benchmark.models import TaskSetVersion
from config import clock
from governance.appeals import services
from governance.appeals.models import Appeal
from governance.appeals.queries import Claim
from governance.desk import services as desk
from submissions.models import Submission
from submissions.problems import Code
from tests.accounts.duties import acting, opened
from tests.governance.records.arranged import indexed
from tests.pages import site
from tests.submissions import world

WORD = "a word of our own that nobody guesses"
COMMITMENT = hashlib.sha256(WORD.encode()).hexdigest()


@dataclass
class Bench:
    """One of each who has part in a ruling; the smallest that can give one."""

    arbiter: User
    engineer: User
    author: User


def bench() -> Bench:
    office = opened()
    return Bench(
        office.holder(Duty.ARBITER),
        office.holder(Duty.EVALUATION_ENGINEER),
        office.holder(Duty.TASK_AUTHOR),
    )


def outsider() -> User:
    """An arbiter from outside, named by the two administrators."""
    office = opened()
    person = office.holder(Duty.ARBITER)
    services.name_outside(
        person, declaration="0" * 64, proposed=acting(office.first), confirmed=acting(office.second)
    )
    return person


def released(vendor: world.Vendor, version: TaskSetVersion, name: str = "h") -> Submission:
    """A complete submission with shown values and a counted use."""
    found = site.moved(site.submission(vendor, version, name), *site.TO_COMPLETE)
    site.release(found)
    return found


def held(vendor: world.Vendor, version: TaskSetVersion, name: str = "h") -> Submission:
    """Held for review by the rule of small contrasts."""
    to_grading = (*site.TO_RUNNING, ("grading", Code.ALL_RUNS_EXECUTED))
    found = site.moved(site.submission(vendor, version, name), *to_grading)
    world.end_run(found.held_out_run)
    desk.place_hold(found, rule="contrast", alarms=[], by=world.BY)
    return Submission.objects.get(pk=found.pk)


def claim(vendor: world.Vendor, version: TaskSetVersion, **facts: Any) -> Claim:
    default: dict[str, Any] = {
        "subject": "fault",
        "submission": None,
        "domain": "",
        "grounds": "The store was down when our run was made.",
    }
    return Claim(organisation=vendor.organisation, task_set=version, **(default | facts))


def filed(vendor: world.Vendor, version: TaskSetVersion, key: str = "k", **facts: Any) -> Appeal:
    indexed(version)
    return services.file(claim(vendor, version, **facts), by=vendor.actor, key=key)


def examined(appeal: Appeal, staff: Bench, second: User | None = None) -> Appeal:
    """Admitted, and the two named; of a score with a `second` person who judges runs again."""
    services.admit(appeal.id, by=acting(staff.engineer))
    services.assign(
        appeal.id, expert=staff.author, engineer=staff.engineer, second=second, by=acting(staff.arbiter)
    )
    return Appeal.objects.get(pk=appeal.pk)


def drafted(appeal: Appeal, staff: Bench, outcome: str = "upheld", **facts: Any) -> Appeal:
    examined(appeal, staff)
    facts = {"text": "The platform was at fault.", "effects": ["refund"]} | facts
    services.draft(appeal.id, outcome=outcome, by=acting(staff.engineer), **facts)
    return Appeal.objects.get(pk=appeal.pk)


def ruled(appeal: Appeal, staff: Bench, outcome: str = "upheld", **facts: Any) -> Appeal:
    drafted(appeal, staff, outcome, **facts)
    services.approve(appeal.id, by=acting(staff.arbiter))
    return Appeal.objects.get(pk=appeal.pk)


def later(days: int = 0, **more: int) -> Any:
    return clock.shifted(timedelta(days=days, **more))
