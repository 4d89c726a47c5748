"""A graded submission, the governors who may decide about it, and its hold as the release tick places it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.duties.table import Duty
from accounts.models import User
from benchmark.models import TaskSetVersion
from config import clock
from governance import services as governance
from governance.desk import cases, queries, services
from governance.desk.models import Case, CaseQuestion, Hold, HoldDecision
from governance.tasks import tick
from governance.watch.models import Alarm, AlarmEvidence
from submissions.models import Submission
from submissions.problems import Code
from tests.accounts.duties import Office, acting, opened
from tests.factories import BY, recorded_as
from tests.governance.test_delivery import bring_on, write_results
from tests.pages import site
from tests.submissions import world
from tests.submissions.outcomes import bring_to


def _monday() -> datetime:
    """The next one, for the duties that tests give begin now."""
    day = clock.now().replace(hour=9, minute=30, second=0, microsecond=0) + timedelta(days=1)
    return day + timedelta(days=-day.weekday() % 7)


MONDAY = _monday()
DUE = MONDAY + timedelta(days=14)
"""Ten working days after the Monday."""
LAST = MONDAY + timedelta(days=28)
REASON = "Changes on seven tasks of one family."


@dataclass
class Bench:
    """Everybody whom a hold concerns."""

    office: Office
    one: User
    two: User
    vendor: world.Vendor
    version: TaskSetVersion

    def running(self, number: int = 1) -> Submission:
        return bring_to(self.vendor.submit(self.version, self.vendor.harness(f"h{number}")), "running")

    def graded(self, number: int = 1) -> Submission:
        found = self.running(number)
        write_results(found)
        return bring_on(found)

    def held(self, rule: str = "contrast") -> Hold:
        """Graded, then held on the Monday by what an alarm says."""
        found = self.graded()
        with clock.frozen(MONDAY):
            return services.place_hold(found, rule=rule, alarms=[], by=BY)

    def decided(self, hold: Hold, kind: str, ground: str = "", at: datetime = MONDAY) -> None:
        """Proposed by one governor, approved by the other."""
        with clock.frozen(at):
            row = services.propose(hold.submission, kind, ground=ground, reason=REASON, by=acting(self.one))
            services.approve(row.id, by=acting(self.two))


def bench() -> Bench:
    office = opened()
    one, two = (office.holder(Duty.HELD_OUT_GOVERNOR) for _ in range(2))
    version = world.task_set()
    governance.set_release_policy(version, profile="demo", tick_seconds=5, by=BY)
    return Bench(office, one, two, world.vendor(), version)


def ticked(at: datetime) -> None:
    with clock.frozen(at):
        tick()


def again(submission: Submission) -> Submission:
    return Submission.objects.select_related("slot", "organisation").get(pk=submission.pk)


def hold_of(submission: Submission) -> Hold:
    found = queries.hold_of(submission)
    assert found is not None
    return found


def alarm(submission: Submission, kind: str = "hold", channel: str = "contrast", **evidence: Any) -> Alarm:
    """As the detectors raise it; what it rests on only where `evidence` is given."""
    row = Alarm(
        task_set=submission.task_set,
        organisation=submission.organisation,
        harness=submission.harness_version.harness,
        submission=submission,
        channel=channel,
        kind=kind,
        statistic=4.2,
        level=3.05,
        raised_at=clock.now(),
    )
    with recorded_as("alarm", row.id):
        row.save()
        if evidence:
            AlarmEvidence.objects.create(alarm=row, content=evidence)
    return row


@dataclass
class Open:
    """A held submission with a proposal about its hold, and the case of its alarm with a question that waits."""

    hold: Hold
    decision: HoldDecision
    case: Case
    question: CaseQuestion


def open_case(vendor: world.Vendor, version: TaskSetVersion, governor: User) -> Open:
    """On any version, without workers; another alarm, a signal, stays outside of the case."""
    states = (*site.TO_RUNNING, ("grading", Code.ALL_RUNS_EXECUTED))
    found = site.moved(vendor.submit(version, vendor.harness("held")), *states)
    world.end_run(found.held_out_run)
    raised = alarm(found)
    alarm(found, "signal", "gap")
    hold = services.place_hold(found, rule=raised.channel, alarms=[raised.id], by=BY)
    decision = services.propose(found, "extend", reason=REASON, by=acting(governor))
    cases.group_alarms(by=BY)
    case = Case.objects.get()
    cases.ask(case.id, found, "model", reason=REASON, by=acting(governor))
    return Open(hold, decision, Case.objects.get(), CaseQuestion.objects.get())
