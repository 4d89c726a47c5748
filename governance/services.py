"""Changes of state in governance: the release policy of a version, and the release of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from accounts.models import User
from audit import log
from audit.events import Actor
from benchmark.models import TaskSetVersion
from config import clock
from evaluation.models import EvaluationRun
from governance import aggregates, behaviour, commitments, events, leaks, policies, release, silencing
from governance.aggregates import DomainStatistics
from governance.disclosure import bits
from governance.disclosure.gate import FEWEST_CHANGED, Silence, Silenced
from governance.models import (
    DomainAggregate,
    LeakCharge,
    Release,
    ReleasePolicy,
    RunCommitment,
    SealedAggregate,
)
from governance.queries import policy_at
from governance.release import Shown
from scoring import interval
from submissions.models import Slot, Submission
from submissions.problems import Code
from submissions.services import OFFICIAL, conclude, slots

HAVE_EARLIER = (Silence.REPEAT, Silence.NEAR_DUPLICATE, Silence.LADDER)
"""Silences for which an earlier submission stands."""
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
    rule: str = ReleasePolicy.Rule.GRID,
    lineage_quota: int = OFFICIAL["lineage"],
    budget_millibits: int | None = None,
    people: Sequence[User] = (),
) -> ReleasePolicy:
    """A new policy row for a frozen version, with the half widths tabulated for every shown value.

    `people` proposed and approved it, as `submissions.services.policy_people` finds. `budget_millibits` is what one
    lineage may be told over the version's life, by default a bit for each live task. Raises ValueError for a draft,
    whose families may still change, and CapacityTooLarge where `lineage_quota` answers could tell more than that; a
    demo's budget is as large as it needs.
    """
    if not task_set.is_frozen:
        raise ValueError(f"task-set version {task_set.label} is not frozen")
    budget = budget_millibits or bits.budget(leaks.live_tasks(task_set))
    confirmation = leaks.confirmation_millibits()
    needed = bits.capacity(
        lineage_quota=lineage_quota, confirmation=confirmation, result=leaks.one_result(rule)
    )
    if profile == ReleasePolicy.Profile.DEMO:
        budget = max(budget, needed)
    if needed > budget:
        raise leaks.CapacityTooLarge(
            f"{lineage_quota} submissions with their confirmation runs can tell {needed / 1000:.0f} bits, "
            f"more than the {budget / 1000:.0f} of {task_set.label}"
        )
    with transaction.atomic():
        policy = ReleasePolicy.objects.create(
            task_set=task_set,
            profile=profile,
            rule=rule,
            rho=rho,
            tick_seconds=tick_seconds,
            fewest_changed=FEWEST_CHANGED,
            budget_millibits=budget,
            confirmation_millibits=confirmation,
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
                fewest_changed=policy.fewest_changed,
                budget_millibits=policy.budget_millibits,
                confirmation_millibits=policy.confirmation_millibits,
            ),
            by=by,
        )
    return policy


def release_result(submission: Submission, *, by: Actor) -> Release | None:
    """Release all domains of one submission at once, if it is due; None where it is not, or not yet.

    A submission in `grading` moves on to `complete`; one whose vendor kept it incomplete is released as it is. What is
    held is not: `release_held` is for that.
    """
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if locked.state not in policies.RELEASABLE or not is_due(locked):
            return None
        return _release(locked, by=by)


def release_held(submission: Submission, *, over_at: datetime, by: Actor) -> Release | None:
    """Release a held result whose hold is over since `over_at`, on the tick after; None where it is not, or not yet.

    The same gate, ledger and commitments as any release. The database refuses it while the hold lasts.
    """
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if locked.state != Submission.State.HELD or not is_due(locked, since=over_at):
            return None
        return _release(locked, by=by)


def is_due(submission: Submission, *, since: datetime | None = None) -> bool:
    """Whether nothing more will come of its run, and the tick after that, or after `since`, has come."""
    run = submission.held_out_run
    if run is None or Release.objects.filter(submission=submission).exists():
        return False
    return policies.may_release(
        state=submission.state,
        run_state=run.state,
        missing=run.missing,
        ended_at=since or run.ended_at,
        tick_seconds=policy_at(submission.task_set_id, clock.now()).tick_seconds,
        now=clock.now(),
    )


def _release(submission: Submission, *, by: Actor) -> Release:
    policy, run = policy_at(submission.task_set_id, clock.now()), submission.held_out_run
    if run is None:
        raise ValueError(f"the submission {submission.pk} has no held-out run")
    runs = aggregates.runs_of(run)
    commitment = commitments.commit(submission, run, runs)
    statistics = aggregates.statistics(runs)
    _seal(submission, statistics)
    account = leaks.hold_account(policy, submission.organisation.lineage_id)
    silenced = silencing.silenced(submission, policy, behaviour.observed(runs), statistics)
    shown = _affordable(_shown(policy, statistics, silenced), policy, account)
    if account is not None:
        told = leaks.of_result(policy.rule, shown)
        leaks.charge(submission, account, told, kind=LeakCharge.Kind.RESULT, by=by)
    released = _show(submission, policy, shown, silenced, commitment, by=by)
    _end(submission, shown, by=by)
    return released


def _end(submission: Submission, shown: Shown, *, by: Actor) -> None:
    """Complete. Where no rule let any value out, the use is returned, and the cooldown stays.

    A hold that was a false alarm has returned it before.
    """
    cause = Code.NOTHING_REPORTED if shown.returns_use else None
    if submission.state in (Submission.State.GRADING, Submission.State.HELD):
        run = submission.held_out_run
        kept = run is not None and (run.missing or run.state != EvaluationRun.State.ENDED)
        to = Submission.State.INCOMPLETE if kept else Submission.State.COMPLETE
        conclude(submission, to, cause=cause, by=by)
    if cause is not None and Slot.objects.get(submission=submission).state == Slot.State.CONSUMED:
        slots.give_back(submission, cause=cause, by=by)


def _shown(
    policy: ReleasePolicy,
    statistics: Mapping[str, DomainStatistics],
    silenced: Mapping[str, Silenced[Submission]],
) -> Shown:
    return release.release_summaries(
        {domain: found.summary for domain, found in statistics.items()},
        half_widths=policy.half_widths,
        silences={domain: found.reason for domain, found in silenced.items()},
    )


def _affordable(shown: Shown, policy: ReleasePolicy, account: bits.Balance | None) -> Shown:
    """The same, or nothing at all where the lineage's account does not cover it. Admission sees to it before."""
    if account is None or account.covers(leaks.of_result(policy.rule, shown)):
        return shown
    return shown.silent(Silence.BUDGET)


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
    submission: Submission,
    policy: ReleasePolicy,
    shown: Shown,
    silenced: Mapping[str, Silenced[Submission]],
    commitment: RunCommitment,
    *,
    by: Actor,
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
                reason=found.silence or "",
                earlier=silenced[domain].earlier if found.silence in HAVE_EARLIER else None,
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
            silences=shown.silences() or None,
            coverage=shown.coverage,
            runs=commitment.runs,
            runs_root=commitment.root,
        ),
        by=by,
    )
    return row
