"""Reads of confirmation runs: what decides about them, and what their organisation sees of them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from audit.events import Actor
from config import clock
from evaluation.models import EvaluationRun
from governance import leaks
from governance.confirmation.models import ConfirmationRun
from governance.confirmation.policies import ENDS, MOST, STAYS, Facts
from governance.models import Release
from governance.queries import current_policy, policy_at
from submissions.confidentiality.models import PackageDeletion
from submissions.models import AdmissionStop, Submission
from submissions.policies import may_compete
from submissions.policies.states import IN_FLIGHT, RERUN_WINDOW
from submissions.problems import Code, Refusal
from submissions.queries import NotVisible, open_task_sets
from submissions.queries.admission import standing
from submissions.relations.queries import Waits, owners_gate
from submissions.services import running_time

State = ConfirmationRun.State
REFUSING = frozenset({Waits.OWNER_NOT_NAMED, Waits.OBJECTED})


def of_line(submission: Submission) -> QuerySet[ConfirmationRun]:
    """All that the submission's harness line has asked for on its version."""
    return ConfirmationRun.objects.filter(
        harness=submission.harness_version.harness_id, task_set=submission.task_set_id
    )


def confirmation_of(submission: Submission) -> ConfirmationRun:
    """The latest one of a submission that the caller may see. Raises NotVisible where there is none."""
    rows = ConfirmationRun.objects.filter(submission=submission).select_related("release_date")
    found = rows.order_by("-number").first()
    if found is None:
        raise NotVisible
    return found


def refusal(submission: Submission, *, consent: bool, by: Actor) -> Refusal | None:
    """Why no confirmation run of the submission is granted now, the first reason in a fixed order."""
    if found := may_compete(standing(submission.organisation, by.account)):
        return found
    if not consent:
        return Refusal(Code.CONFIRMATION_CONSENT)
    if submission.state != Submission.State.COMPLETE or not _is_released(submission):
        return Refusal(Code.CONFIRMATION_TOO_EARLY, {"state": submission.state})
    label = {"task_set": submission.task_set.label}
    if not _is_offered(submission):
        return Refusal(Code.CONFIRMATION_NOT_OFFERED, label)
    if owners_gate(submission).waits in REFUSING:
        return Refusal(Code.CONFIRMATION_OWNER)
    if PackageDeletion.objects.filter(submission=submission).exists():
        return Refusal(Code.CONFIRMATION_PACKAGE_GONE)
    if _is_used(submission):
        facts = {**label, "harness": submission.harness_version.harness.name}
        return Refusal(Code.CONFIRMATION_USED, facts)
    return None if _is_covered(submission) else Refusal(Code.CONFIRMATION_BUDGET, label)


def _is_released(submission: Submission) -> bool:
    return Release.objects.filter(submission=submission).exists()


def _is_offered(submission: Submission) -> bool:
    """The version is open, its policy counts confirmation runs, and governance has stopped nothing."""
    policy = current_policy(submission.task_set)
    stops = AdmissionStop.objects.filter(
        Q(lineage=submission.organisation.lineage_id) | Q(lineage=None),
        task_set=submission.task_set_id,
        cause=AdmissionStop.Cause.GOVERNANCE,
        lifted_at=None,
    )
    is_open = submission.task_set in open_task_sets()
    return is_open and policy is not None and bool(policy.confirmation_millibits) and not stops.exists()


def _is_used(submission: Submission) -> bool:
    rows = of_line(submission)
    return rows.count() >= MOST or rows.exclude(state=State.INCOMPLETE).exists()


def _is_covered(submission: Submission) -> bool:
    """Whether the account still covers all that this one and those under way could tell."""
    policy = policy_at(submission.task_set_id, clock.now())
    lineage = submission.organisation.lineage_id
    balance = leaks.balance(policy, lineage)
    under_way = ConfirmationRun.objects.filter(
        task_set=submission.task_set_id, submission__organisation__lineage=lineage
    ).exclude(state__in=ENDS)
    most = policy.confirmation_millibits or 0
    return balance is not None and balance.covers((under_way.count() + 1) * most)


def open_confirmations() -> list[UUID]:
    """Those for which something may be due, oldest first."""
    unsettled = Q(run__state__in=(EvaluationRun.State.EXECUTING, EvaluationRun.State.GRADING))
    rows = ConfirmationRun.objects.filter(
        ~Q(state__in=ENDS) | Q(state=State.CONFIRMED, release_date=None) | (Q(state__in=ENDS) & unsettled)
    )
    return list(rows.order_by("requested_at", "id").values_list("id", flat=True))


def facts_of(row: ConfirmationRun) -> Facts:
    """What decides about its next move, as everything stands now."""
    now = clock.now()
    gate = owners_gate(row.submission)
    return Facts(
        state=row.state,
        has_consent=row.submission.publication_consent,
        objected=gate.waits is Waits.OBJECTED,
        may_publish=gate.since is not None and gate.since <= now,
        line_is_free=not Submission.objects.filter(
            harness_version__harness=row.harness_id, state__in=IN_FLIGHT
        ).exists(),
        run_state=row.run.state if row.run else "",
        missing=row.run.missing if row.run else 0,
        is_on_tick=_is_on_tick(row, now),
        is_overdue=(deadline := deadline_of(row)) is not None and deadline <= now,
        is_dated=row.release_date_id is not None,
    )


def deadline_of(row: ConfirmationRun) -> datetime | None:
    """Until when it may stay in its state; None at an end."""
    if row.state in ENDS:
        return None
    if row.rerun_since is not None:
        return row.rerun_since + RERUN_WINDOW
    if row.state == State.RUNNING:
        return row.state_since + running_time(row.run) + RERUN_WINDOW
    return row.state_since + STAYS[row.state]


def _is_on_tick(row: ConfirmationRun, now: datetime) -> bool:
    """How long a run takes is an answer about its tasks; on a tick it is a coarse one."""
    if row.run is None:
        return False
    if row.state == State.GRADING:
        seconds = policy_at(row.task_set_id, now).tick_seconds
        return row.run.ended_at is not None and now >= clock.next_tick(row.run.ended_at, seconds)
    done = row.run.executed_at or row.run.ended_at
    return done is not None and now >= clock.next_tick(done, settings.PROGRESS_TICK_SECONDS)
