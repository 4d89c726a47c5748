"""Ordering that a released result is graded again, and carrying it out. One transaction a step, with its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.duties import queries as duties
from accounts.duties.table import Decision
from accounts.models import User
from audit import log
from audit.events import Actor
from benchmark.models import TaskRevision
from config import clock
from config.store import ObjectMissing
from evaluation.claims import GradingClaim
from evaluation.grading import ArtefactsLost
from evaluation.models import EvaluationRun
from governance import aggregates, commitments, leaks, release
from governance.aggregates import GradedRun
from governance.confirmation.models import ConfirmationRun
from governance.correcting import events
from governance.correcting.models import Cause, Correction, RegradedRun, Regrading
from governance.disclosure import bits
from governance.disclosure.gate import Silence
from governance.models import LeakCharge, Release, ReleasePolicy
from governance.regrading import claim_of
from scoring.aggregate import RunScore
from scoring.run import RunScore as Graded
from submissions.models import Submission
from submissions.problems import Code, refuse

Grade = Callable[[GradingClaim], Graded]
DONE = ("done_at", "runs", "differences", "root", "wrapped_secret", "grader")
Announce = Callable[[Correction, Actor], None]
"""Says in public, in the same transaction, that results were corrected."""
Fixes = Mapping[UUID, TaskRevision]
"""By task: the revision whose rules are used instead, since a defect of the task's own is settled there."""


def order(
    submission: Submission, *, cause: str, by: Actor, approved_by: Actor, reference: str = ""
) -> Regrading:
    """Order that the run whose values are shown is graded again; two people stand behind it.

    Nothing of the submission changes: no slot, no state, no owner. Raises DutyRefused, and Refused: regrade_not_due,
    regrade_under_way.
    """
    if cause not in Cause.values or not Release.objects.filter(submission=submission).exists():
        raise refuse(Code.REGRADE_NOT_DUE)
    lineage = submission.organisation.lineage_id
    duties.require(Decision.UNBLINDING, proposed=by, approved=approved_by, concerned=frozenset({lineage}))
    people = [User.objects.get(pseudonym=person.id) for person in (by, approved_by)]
    try:
        with transaction.atomic():
            row = Regrading.objects.create(
                submission=submission,
                run=_shown_run(submission),
                cause=cause,
                reference=reference,
                ordered_by=people[0],
                approved_by=people[1],
                ordered_at=clock.now(),
            )
            event = events.RegradingOrdered(
                subject=row.id,
                submission=str(submission.id),
                cause=cause,
                reference=reference,
                people=[str(person.pseudonym) for person in people],
            )
            log.append(event, by=by)
    except IntegrityError as error:
        if "regrading_one_under_way" not in str(error):
            raise
        raise refuse(Code.REGRADE_UNDER_WAY) from error
    return row


def _shown_run(submission: Submission) -> EvaluationRun:
    """Of the confirmation run, once a dated release shows its values; else the first one."""
    published = ConfirmationRun.objects.filter(
        submission=submission, state=ConfirmationRun.State.CONFIRMED, release_date__isnull=False
    )
    found = published.select_related("run").first()
    run = found.run if found else submission.held_out_run
    if run is None:
        raise refuse(Code.REGRADE_NOT_DUE)
    return run


@dataclass(frozen=True)
class Before:
    """What is shown of the run: the policy it was shown under, its values, and where nothing is shown."""

    policy: ReleasePolicy
    values: dict[str, Any]
    silences: dict[str, Silence]


def carry_out(
    which: Regrading, *, grade: Grade, grader: str, fixes: Fixes, announce: Announce, by: Actor
) -> Correction | None:
    """Grade every run again and show what changed; None where every shown value stays. Sealed work only.

    A run whose artefacts are lost keeps its score. A domain that showed no value still shows none: what a gate closed
    a correction does not open. It is charged as a correction, also beyond the budget. Whatever else `grade` raises
    passes, and then nothing has happened.
    """
    runs = aggregates.runs_of(which.run)
    again = [_graded(run, grade, fixes) for run in runs]
    made = commitments.sealed(which.run, again)
    with transaction.atomic():
        row = Regrading.objects.select_for_update(of=("self",)).select_related("submission").get(pk=which.pk)
        if row.done_at is not None:
            return Correction.objects.filter(regrading=row).first()
        before = _before(row)
        summaries = {name: found.summary for name, found in aggregates.statistics(again).items()}
        shown = release.release_summaries(
            summaries, half_widths=before.policy.half_widths, silences=before.silences
        )
        changes = shown.values() != before.values
        row.done_at, row.runs, row.root, row.grader = clock.now(), made.runs, made.root, grader
        row.wrapped_secret = made.wrapped_secret
        row.differences = sum(old.score != new.score for old, new in zip(runs, again, strict=True))
        row.save(update_fields=DONE)
        _keep(row, again)
        ended = events.RegradingEnded(
            subject=row.id,
            submission=str(row.submission_id),
            runs=made.runs,
            runs_root=made.root,
            grader=grader,
            changes_values="yes" if changes else "no",
        )
        log.append(ended, by=by)
        account = leaks.hold_account(before.policy, row.submission.organisation.lineage_id)
        if account is not None:
            charge = bits.of_result(len(shown.reported), bounds=0)
            leaks.charge(row.submission, account, charge, kind=LeakCharge.Kind.CORRECTION, by=by)
        if not changes:
            return None
        found = _correct(row, before, shown.values(), by)
        announce(found, by)
    return found


def _correct(row: Regrading, before: Before, values: dict[str, Any], by: Actor) -> Correction:
    found = Correction.objects.create(
        regrading=row,
        submission=row.submission,
        cause=row.cause,
        values=values,
        former=before.values,
        corrected_at=clock.now(),
    )
    event = events.ResultCorrected(
        subject=row.submission_id,
        regrading=str(row.id),
        cause=row.cause,
        policy=str(before.policy.id),
        values=values,
        runs_root=row.root,
    )
    log.append(event, by=by)
    return found


def _graded(run: GradedRun, grade: Grade, fixes: Fixes) -> GradedRun:
    if run.score is None or run.attempt_id is None:
        return run
    claim = claim_of({"episode": run.attempt_id.hex, "artefact": run.artefact})
    if fix := fixes.get(run.task_id):
        claim = replace(claim, pack_id=fix.grading_pack_id, offset=fix.grading_offset, size=fix.grading_size)
    try:
        found = grade(claim)
    except (ArtefactsLost, ObjectMissing):
        return run
    score = RunScore(score=found.score, success=found.success, failure_type=found.failure_type or None)
    return replace(run, score=score)


def _keep(row: Regrading, runs: list[GradedRun]) -> None:
    RegradedRun.objects.bulk_create(
        [
            RegradedRun(
                regrading=row,
                attempt_id=run.attempt_id,
                score=run.score.score,
                success=run.score.success,
                failure_type=run.score.failure_type or "",
            )
            for run in runs
            if run.score is not None and run.attempt_id is not None
        ]
    )


def _before(row: Regrading) -> Before:
    """As shown now, an earlier correction of the same run counted in."""
    confirmed = ConfirmationRun.objects.filter(run=row.run).select_related("result__policy").first()
    if confirmed is not None:
        policy, values, silences = confirmed.result.policy, dict(confirmed.result.values), {}
    else:
        shown = (
            Release.objects.select_related("policy")
            .prefetch_related("domains")
            .get(submission=row.submission)
        )
        rows = list(shown.domains.all())
        policy = shown.policy
        values = {
            found.domain: {"value": found.value, "h": found.half_width}
            for found in rows
            if found.value is not None
        }
        if shown.enterprise_value is not None:
            values["enterprise"] = {"value": shown.enterprise_value, "h": shown.enterprise_h}
        silences = {
            found.domain: Silence(found.reason or "no_valid_run") for found in rows if found.value is None
        }
    last = Correction.objects.filter(regrading__run=row.run).order_by("corrected_at").last()
    return Before(policy, dict(last.values) if last else values, silences)


def ordered() -> list[Regrading]:
    """What waits to be carried out, oldest first."""
    rows = Regrading.objects.filter(done_at=None).select_related("run", "submission__task_set")
    return list(rows.order_by("ordered_at", "id"))
