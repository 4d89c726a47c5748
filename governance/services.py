"""Changes of state in governance: the release policy of a version, and the release of a result."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction

from accounts.models import User
from audit import log
from audit.events import Actor
from benchmark.models import TaskSetVersion
from config import clock
from governance import aggregates, commitments, events, policies, release
from governance.aggregates import DomainStatistics
from governance.models import DomainAggregate, Release, ReleasePolicy, RunCommitment, SealedAggregate
from governance.queries import policy_at
from governance.release import Shown
from scoring import interval
from submissions.models import Submission
from submissions.services import conclude

DEFAULT_RHO = Decimal("0.100")
"""Correlation of tasks within a family until baselines have measured it."""
OFFICIAL_TICK_SECONDS = 15 * 60


def set_release_policy(
    task_set: TaskSetVersion,
    *,
    profile: str,
    by: Actor,
    tick_seconds: int = OFFICIAL_TICK_SECONDS,
    rho: Decimal = DEFAULT_RHO,
    people: Sequence[User] = (),
) -> ReleasePolicy:
    """A new policy row for a frozen version, with the half widths tabulated for every shown value.

    `people` proposed and approved it, as `submissions.services.policy_people` finds. Raises ValueError for a draft:
    its families may still change.
    """
    if not task_set.is_frozen:
        raise ValueError(f"task-set version {task_set.label} is not frozen")
    with transaction.atomic():
        policy = ReleasePolicy.objects.create(
            task_set=task_set,
            profile=profile,
            rho=rho,
            tick_seconds=tick_seconds,
            half_widths={
                domain: interval.table(facts["held_out_families"], float(rho))
                for domain, facts in task_set.composition.items()
            },
            valid_from=clock.now(),
        )
        log.append(
            events.ReleasePolicySet(
                subject=policy.id,
                task_set=task_set.label,
                profile=profile,
                rule=policy.rule,
                grid_points=policy.grid_points,
                rho=str(rho),
                tick_seconds=tick_seconds,
                people=[str(person.pseudonym) for person in people] or None,
            ),
            by=by,
        )
    return policy


def release_result(submission: Submission, *, by: Actor) -> Release | None:
    """Release all domains of one submission at once, if it is due; None where it is not, or not yet.

    A submission in `grading` moves on to `complete`; one whose vendor kept it incomplete is released as it is.
    """
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        policy = policy_at(locked.task_set_id, clock.now())
        run = locked.held_out_run
        if run is None or not policies.may_release(
            state=locked.state,
            run_state=run.state,
            missing=run.missing,
            ended_at=run.ended_at,
            tick_seconds=policy.tick_seconds,
            now=clock.now(),
        ):
            return None
        if Release.objects.filter(submission=locked).exists():
            return None
        runs = aggregates.runs_of(run)
        commitment = commitments.commit(locked, run, runs)
        statistics = aggregates.statistics(runs)
        _seal(locked, statistics)
        shown = release.release_summaries(
            {domain: found.summary for domain, found in statistics.items()}, half_widths=policy.half_widths
        )
        released = _show(locked, policy, shown, commitment, by=by)
        if locked.state == Submission.State.GRADING:
            conclude(locked, Submission.State.COMPLETE, by=by)
    return released


def _seal(submission: Submission, statistics: dict[str, DomainStatistics]) -> None:
    now = clock.now()
    SealedAggregate.objects.bulk_create(
        [
            SealedAggregate(
                submission=submission,
                domain=domain,
                task_score=found.summary.task_score,
                success=found.summary.success_rate,
                reliability={
                    str(k): str(value) for k, value in found.reliability.items() if value is not None
                },
                failures={kind: str(share) for kind, share in found.summary.failure_shares.items()},
                tasks=found.summary.tasks_prescribed,
                valid_tasks=found.summary.tasks_valid,
                runs=found.summary.runs_prescribed,
                valid_runs=found.summary.runs_valid,
                mean_seconds=found.mean_seconds,
                mean_tokens=found.mean_tokens,
                computed_at=now,
            )
            for domain, found in statistics.items()
        ]
    )


def _show(
    submission: Submission, policy: ReleasePolicy, shown: Shown, commitment: RunCommitment, *, by: Actor
) -> Release:
    row = Release.objects.create(
        submission=submission,
        policy=policy,
        enterprise_value=shown.enterprise.value,
        enterprise_h=shown.enterprise.half_width,
        coverage=shown.coverage,
        is_complete=shown.is_complete,
        versions={
            "task_set": submission.task_set.label,
            "protocol": submission.protocol_version,
            "evaluator": submission.evaluator_version,
        },
        released_at=clock.now(),
    )
    status = DomainAggregate.Status
    DomainAggregate.objects.bulk_create(
        [
            DomainAggregate(
                release=row,
                domain=domain,
                status=status.NOT_REPORTABLE if found.value is None else status.REPORTED,
                value=found.value,
                half_width=found.half_width,
                low=found.low,
                high=found.high,
            )
            for domain, found in shown.domains.items()
        ]
    )
    log.append(
        events.ResultReleased(
            subject=submission.id,
            policy=str(policy.id),
            policy_row=commitments.policy_digest(policy),
            values=shown.values(),
            bounds=shown.bounds() or None,
            coverage=shown.coverage,
            runs=commitment.runs,
            runs_root=commitment.root,
        ),
        by=by,
    )
    return row
