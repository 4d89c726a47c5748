"""Confirmation runs: asked for, moved on, sealed, withdrawn. One transaction each, with its event."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from uuid import UUID

from django.db import transaction

from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from accounts.security.factors import is_enrolled
from audit import log
from audit.events import Actor
from config import clock
from evaluation import services as evaluation
from evaluation.models import EvaluationRun
from governance import aggregates, commitments, leaks, release
from governance.aggregates import DomainStatistics
from governance.confirmation import events, figures, policies, queries
from governance.confirmation.models import ConfirmationResult, ConfirmationRun
from governance.confirmation.policies import ENDS, Cause, Move
from governance.correcting.following import follow
from governance.disclosure import bits
from governance.models import LeakCharge
from governance.queries import policy_at
from submissions.models import Harness, Submission
from submissions.policies.states import rerun_pause
from submissions.problems import Code, Refused, refuse
from submissions.services import once, set_publication_consent, standing, start_run
from submissions.services.telling import recipients

ROUTE = "confirmations"
OPEN_RUNS = (EvaluationRun.State.EXECUTING, EvaluationRun.State.GRADING)
State = ConfirmationRun.State
TOLD = {
    State.CONFIRMED: Kind.CONFIRMATION_CONFIRMED,
    State.INCOMPLETE: Kind.CONFIRMATION_INCOMPLETE,
    State.WITHDRAWN: Kind.CONFIRMATION_WITHDRAWN,
}


def request(submission: Submission, *, consent: bool, by: Actor, key: str) -> ConfirmationRun:
    """Ask for the confirmation run of a complete submission; the same key gets the same one again.

    `consent` is the consent to publish, given in this very act. Raises Refused with every reason of
    `queries.refusal`, mfa_required, idempotency_key_required or idempotency_conflict.
    """
    standing.require(submission.organisation, by)
    if by.kind == "person" and not is_enrolled(by.account):
        raise refuse(Code.MFA_REQUIRED)
    body = {"submission": str(submission.pk), "publication_consent": consent}
    answer = once(
        submission.organisation,
        ROUTE,
        key,
        body,
        lambda: (202, {"id": str(_ask(submission, consent=consent, by=by).pk)}),
    )
    return ConfirmationRun.objects.get(pk=answer.body["id"])


def _ask(submission: Submission, *, consent: bool, by: Actor) -> ConfirmationRun:
    """The line is held, so that two requests at once see one another."""
    harness = Harness.objects.select_for_update().get(pk=submission.harness_version.harness_id)
    if refusal := queries.refusal(submission, consent=consent, by=by):
        raise Refused(refusal)
    set_publication_consent(submission.pk, consent="given", by=by)
    now = clock.now()
    row = ConfirmationRun.objects.create(
        submission=submission,
        harness=harness,
        task_set=submission.task_set,
        number=queries.of_line(submission).count() + 1,
        state_since=now,
        requested_at=now,
    )
    event = events.ConfirmationRequested(
        subject=row.id,
        submission=str(submission.pk),
        harness=str(harness.pk),
        task_set=submission.task_set.label,
        number=row.number,
    )
    log.append(event, by=by)
    return row


def withdraw(which: UUID, *, by: Actor) -> ConfirmationRun:
    """Withdraw it, and with it the consent to publish; the next dated release counts it.

    Withdrawing what is withdrawn changes nothing. Raises Refused: confirmation_over, standing.
    """
    with transaction.atomic():
        row = _locked(which)
        if row.state == State.WITHDRAWN:
            return row
        if not policies.may_withdraw(row.state, is_dated=row.release_date_id is not None):
            raise refuse(Code.CONFIRMATION_OVER)
        set_publication_consent(row.submission_id, consent="withdrawn", by=by)
        _move(row, Move(State.WITHDRAWN, Cause.WITHDRAWN_BY_VENDOR), by=by)
    return row


def advance(which: UUID, *, by: Actor) -> bool:
    """Make the move that is due, if one is; whether something was done. Repeats change nothing more."""
    with transaction.atomic():
        row = _locked(which)
        if row.state in ENDS and row.run is not None and row.run.state in OPEN_RUNS:
            evaluation.cancel_run(row.run, by=by)
            return True
        facts = queries.facts_of(row)
        move = policies.next_move(facts)
        if move is not None:
            make(row, move, by=by)
            return True
        follow(row, by=by)
        return policies.must_repeat(facts) and _repeat(row, by=by)


def _locked(which: UUID) -> ConfirmationRun:
    rows = ConfirmationRun.objects.select_related(
        "run", "task_set", "submission__harness_version__harness", "submission__organisation"
    )
    return rows.select_for_update(of=("self",)).get(pk=which)


def make(row: ConfirmationRun, move: Move, *, by: Actor) -> None:
    """Make one move of a row that is held. Only `policies.next_move` says which."""
    if move.to == State.RUNNING:
        row.run = start_run(row.submission, EvaluationRun.Kind.HELD_OUT, by=by)
    if move.to == State.CONFIRMED and not _seal(row, by=by):
        move = Move(State.INCOMPLETE, Cause.BUDGET_SPENT)
    _move(row, move, by=by)


def _move(row: ConfirmationRun, move: Move, *, by: Actor) -> None:
    before, starts = row.state, move.to == State.RUNNING
    row.state, row.cause, row.state_since = move.to, move.cause, clock.now()
    row.ended_at = row.state_since if move.to in ENDS else None
    changed = ["state", "cause", "state_since", "ended_at"]
    row.save(update_fields=[*changed, "run"] if starts else changed)
    event = events.ConfirmationMoved(
        subject=row.id,
        before=before,
        after=move.to,
        cause=move.cause,
        run=str(row.run_id) if starts else None,
    )
    log.append(event, by=by)
    if move.to in TOLD:
        version = row.submission.harness_version
        notify(
            recipients(row.submission),
            TOLD[State(move.to)],
            subject=row.submission_id,
            facts={
                "submission": str(row.submission_id),
                "harness": version.harness.name,
                "version": version.version,
                "state": move.to,
            },
            organisation=row.submission.organisation,
            occasion=f"{row.number} {move.to}",
        )


def _repeat(row: ConfirmationRun, *, by: Actor) -> bool:
    """Repeat what the platform lost, at growing distances, as for a submission."""
    now = clock.now()
    if row.run is None or (row.next_rerun_at is not None and now < row.next_rerun_at):
        return False
    count = evaluation.rerun_missing(row.run, by=by)
    row.rerun_since = row.rerun_since or now
    row.rerun_count += 1
    row.next_rerun_at = now + rerun_pause(row.rerun_count)
    row.save(update_fields=["rerun_since", "rerun_count", "next_rerun_at"])
    log.append(events.ConfirmationRunsRepeated(subject=row.id, count=count, round=row.rerun_count), by=by)
    return True


def _seal(row: ConfirmationRun, *, by: Actor) -> bool:
    """Charge and fix what it gave; False where the lineage's account does not cover it, and nothing is fixed.

    The near-duplicate gate does not apply: it is its own package's second answer, once for a line and version.
    """
    run, submission = row.run, row.submission
    assert run is not None, "it is graded"
    policy = policy_at(row.task_set_id, clock.now())
    runs = aggregates.runs_of(run)
    statistics = aggregates.statistics(runs)
    shown = release.release_summaries(
        {domain: found.summary for domain, found in statistics.items()}, half_widths=policy.half_widths
    )
    sides = figures.side_figures(_means(statistics, run.runs_per_task))
    charge = bits.millibits([bits.GRID_LEVELS] * len(shown.reported) + sides.levels)
    account = leaks.hold_account(policy, submission.organisation.lineage_id)
    ceiling = policy.confirmation_millibits or 0
    if account is None or charge > ceiling or not account.covers(charge):
        return False
    leaks.charge(submission, account, charge, kind=LeakCharge.Kind.CONFIRMATION, by=by)
    made = commitments.sealed(run, runs)
    ConfirmationResult.objects.create(
        confirmation=row,
        policy=policy,
        values=shown.values(),
        sides=sides.shown,
        coverage=shown.coverage,
        root=made.root,
        runs=made.runs,
        wrapped_secret=made.wrapped_secret,
        made_at=clock.now(),
    )
    event = events.ConfirmationSealed(
        subject=row.id,
        submission=str(submission.pk),
        policy=str(policy.id),
        policy_row=commitments.policy_digest(policy),
        coverage=shown.coverage,
        runs=made.runs,
        runs_root=made.root,
    )
    log.append(event, by=by)
    return True


def _means(statistics: Mapping[str, DomainStatistics], k: int) -> dict[str, figures.Means]:
    """Success and reliability at all runs of a task; tokens and seconds where every harness has them."""
    found = {}
    for domain, row in statistics.items():
        shares = {"success": row.summary.success_rate, "reliability": row.reliability.get(k)}
        most = {"tokens": leaks.MOST_TOKENS, "seconds": leaks.MOST_SECONDS}
        means = {"tokens": row.mean_tokens, "seconds": row.mean_seconds}
        found[domain] = figures.Means(
            row.summary.tasks_valid,
            {name: share for name, share in shares.items() if share is not None},
            {name: (Decimal(str(mean)), most[name]) for name, mean in means.items() if mean is not None},
        )
    return found
