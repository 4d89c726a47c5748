"""The next move of a submission, taken from what its runs say; and the moves that governance asks for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from audit import log
from audit.events import Actor, system
from config import clock
from evaluation import queries as evaluated
from evaluation import services as evaluation
from evaluation.calls import queries as called
from evaluation.models import EvaluationRun
from submissions import events, tickets
from submissions.models import Slot, Submission
from submissions.policies.states import DEADLINES, ENDS, RERUN_WINDOW, preflight_failed, rerun_pause
from submissions.problems import Code, refuse
from submissions.queries.staff import budget_seconds
from submissions.services import slots
from submissions.services.checking import start_run
from submissions.services.moves import locked, move

PROGRESS = "progress"
REAPER = "reaper"
SIGN_OF_LIFE = timedelta(minutes=2)
State = Submission.State
RunState = EvaluationRun.State
OPEN_RUNS = (RunState.EXECUTING, RunState.GRADING)


def advance(submission_id: UUID) -> str:
    """Make the next move that is due, if one is; returns the state. Any number of repeats change nothing more."""
    with transaction.atomic():
        submission = locked(submission_id)
        if submission.state in ENDS:
            _stop_runs(submission)
        elif not _reap(submission):
            _STEPS.get(State(submission.state), _nothing)(submission)
    return submission.state


def advance_run(run_id: UUID) -> None:
    """Advance the submission that asked for this run; a run of somebody else's is not its business."""
    owners = Submission.of_any_scope.filter(
        Q(preflight_run_id=run_id) | Q(canary_run_id=run_id) | Q(held_out_run_id=run_id)
    )
    for submission_id in owners.values_list("id", flat=True):
        advance(submission_id)


def _nothing(submission: Submission) -> None:
    """This state waits for somebody else."""


def _check(submission: Submission) -> None:
    """A ticket was lost, or the worker was: whoever comes takes the package in hand."""
    if submission.check_lease_until is None or submission.check_lease_until <= clock.now():
        tickets.send("submissions.tasks.check", submission.id)


def _after_preflight(submission: Submission) -> None:
    run = submission.preflight_run
    if run is None or run.state != RunState.ENDED or _before_tick(run.ended_at):
        return
    if run.missing and _repeat(submission, run):
        return
    if not run.missing and called.refused_models(run):
        move(submission, State.PREFLIGHT_FAILED, cause=Code.PREFLIGHT_UNDECLARED_MODEL, by=system(PROGRESS))
        return
    outcomes = evaluated.public_outcomes(run)
    crashed, total = outcomes.crashed_without_output, outcomes.total
    by = system(PROGRESS)
    if run.missing:
        return
    if preflight_failed(crashed=crashed, total=total):
        facts = {"crashed": crashed, "total": total}
        move(submission, State.PREFLIGHT_FAILED, cause=Code.PREFLIGHT_CRASHED, by=by, facts=facts)
        return
    if submission.is_preflight:
        move(submission, State.PREFLIGHT_PASSED, cause=Code.PREFLIGHT_PASSED, by=by)
        return
    submission.canary_run = start_run(submission, EvaluationRun.Kind.CANARY, by=by)
    _forget_repeats(submission)
    move(submission, State.QUEUED, cause=Code.PREFLIGHT_PASSED, by=by)


def _before_tick(at: datetime | None) -> bool:
    """Whether what happened `at` is not to be seen yet: how long runs take tells what else the machine does."""
    return at is not None and clock.now() < clock.next_tick(at, settings.PROGRESS_TICK_SECONDS)


def _after_canary(submission: Submission) -> None:
    """The slot is consumed by the move to running, before any held-out task is touched."""
    by = system(PROGRESS)
    if submission.canary_run is None:
        submission.canary_run = start_run(submission, EvaluationRun.Kind.CANARY, by=by)
        submission.save(update_fields=["canary_run"])
        log.append(events.CanaryStarted(subject=submission.id, run=str(submission.canary_run.id)), by=by)
        return
    run = submission.canary_run
    if run.state != RunState.ENDED or _before_tick(run.ended_at):
        return
    outcome = evaluated.canary_outcome(run)
    if outcome == "missing":
        _repeat(submission, run)
    elif outcome == "crashed":
        move(submission, State.PREFLIGHT_FAILED, cause=Code.CANARY_FAILED, by=by)
    else:
        _forget_repeats(submission)
        submission.held_out_run = start_run(submission, EvaluationRun.Kind.HELD_OUT, by=by)
        move(submission, State.RUNNING, cause=Code.CANARY_PASSED, by=by)


def _after_running(submission: Submission) -> None:
    run = submission.held_out_run
    if run is None or run.state not in (RunState.GRADING, RunState.ENDED):
        return
    if run.state == RunState.ENDED and run.missing:
        _repeat(submission, run)
        return
    # On a tick, as the release is: the exact length of a run would be one more answer about its tasks.
    if _before_tick(run.executed_at or run.ended_at):
        return
    move(submission, State.GRADING, cause=Code.ALL_RUNS_EXECUTED, by=system(PROGRESS))


def _after_grading(submission: Submission) -> None:
    """What grading lost is repeated here; the release of a whole result is governance's, at its tick."""
    run = submission.held_out_run
    if run is not None and run.state == RunState.ENDED and run.missing:
        _repeat(submission, run)


_STEPS = {
    State.CREATED: _check,
    State.CHECKING: _check,
    State.PREFLIGHT: _after_preflight,
    State.QUEUED: _after_canary,
    State.RUNNING: _after_running,
    State.GRADING: _after_grading,
}


def _repeat(submission: Submission, run: EvaluationRun) -> bool:
    """Repeat only what is missing of an ended run, at growing distances, on the same versions. True if it did now."""
    now = clock.now()
    if submission.next_rerun_at is not None and now < submission.next_rerun_at:
        return False
    by = system(PROGRESS)
    count = evaluation.rerun_missing(run, by=by)
    submission.rerun_since = submission.rerun_since or now
    submission.rerun_count += 1
    submission.next_rerun_at = now + rerun_pause(submission.rerun_count)
    submission.save(update_fields=["rerun_since", "rerun_count", "next_rerun_at"])
    event = events.RunsRepeated(subject=submission.id, count=count, round=submission.rerun_count)
    log.append(event, by=by)
    return True


def _forget_repeats(submission: Submission) -> None:
    """The next run starts with a clean count."""
    submission.rerun_since, submission.rerun_count, submission.next_rerun_at = None, 0, None


def _reap(submission: Submission) -> bool:
    """Move a submission whose time is over, as the actor "system"; True if it did."""
    due = deadline_of(submission)
    if due is None or clock.now() < due[0]:
        return False
    _, to, cause = due
    if to == State.AWAITING_CHOICE and _whole(submission):
        return False
    move(submission, to, cause=cause, by=system(REAPER))
    _stop_runs(submission)
    return True


def _whole(submission: Submission) -> bool:
    """Nothing is missing: then there is nothing to choose, and only the release is late."""
    run = submission.held_out_run
    return run is not None and run.state == RunState.ENDED and not run.missing


def deadline_of(submission: Submission) -> tuple[datetime, str, Code] | None:
    """Until when it may stay in its state, where the reaper moves it, and why; None where nothing is due ever."""
    if submission.state == State.RUNNING:
        ends = submission.state_since + running_time(submission.held_out_run) + RERUN_WINDOW
        return ends, State.AWAITING_CHOICE, Code.DEADLINE_RUNNING
    found = DEADLINES.get(submission.state)
    if found is None:
        return None
    stay, to, cause = found
    if submission.state == State.PAUSED and submission.reason_code == Code.UPSTREAM_CEILING:
        # The vendor's to mend: an end for which nobody pays would give whole runs for nothing.
        return submission.state_since + stay, State.CANCELLED, Code.DEADLINE_CEILING
    if submission.state == State.GRADING and submission.rerun_since is not None:
        return submission.rerun_since + RERUN_WINDOW, to, Code.RUNS_LOST
    return submission.state_since + stay, to, Code(cause)


def running_time(run: EvaluationRun | None) -> timedelta:
    """Sum of the budgets over the granted concurrency (live workers, at least one), times 1.5."""
    if run is None:
        return timedelta(0)
    workers = evaluated.live_workers(clock.now() - SIGN_OF_LIFE)
    hands = max(sum(worker.queue == "execute" for worker in workers), 1)
    return timedelta(seconds=1.5 * budget_seconds(run) / hands)


def _stop_runs(submission: Submission) -> None:
    """Runs of a submission that is at an end, or that waits for a choice, stop."""
    for run in (submission.preflight_run, submission.canary_run, submission.held_out_run):
        if run is not None and run.state in OPEN_RUNS:
            evaluation.cancel_run(run, by=system(PROGRESS))


def conclude(
    submission: Submission,
    to: str,
    *,
    by: Actor,
    ruling: str = "keep",
    cause: Code | None = None,
    facts: Mapping[str, object] | None = None,
) -> Submission:
    """Governance's moves: grading → complete | held | awaiting_choice, held → complete | incomplete | voided, and
    incomplete → held before it is released.

    A result is complete only if its run has ended with nothing missing; what was kept incomplete stays so, held or not.
    `ruling` says what a void after review does to
    the use: `keep` (counted) or `return`; `facts` fill the sentence of the cause. Raises Refused: move_not_possible.
    """
    with transaction.atomic():
        submission = locked(submission.pk)
        if submission.state == to:
            return submission
        if submission.state not in (State.GRADING, State.HELD, State.INCOMPLETE):
            raise refuse(Code.MOVE_NOT_POSSIBLE, state=submission.state, to=to)
        if not _fits(submission, to):
            raise refuse(Code.MOVE_NOT_POSSIBLE, state=submission.state, to=to)
        code = cause or _conclusion(submission.state, to)
        move(submission, to, cause=code, facts=facts, by=by)
        if ruling == "return" and submission.slot.state != Slot.State.REFUNDED:
            slots.give_back(submission, cause=code, by=by)
            slots.lift_cooldown(submission, cause=code, by=by)
    return submission


def _fits(submission: Submission, to: str) -> bool:
    """Whether what is there of its run allows the move: only a whole result is complete, only another incomplete."""
    if to == State.COMPLETE or (to == State.HELD and submission.state == State.GRADING):
        return _whole(submission)
    return to != State.INCOMPLETE or not _whole(submission)


def _conclusion(state: str, to: str) -> Code:
    return {
        (State.GRADING, State.COMPLETE): Code.RESULTS_RELEASED,
        (State.GRADING, State.HELD): Code.HELD_FOR_REVIEW,
        (State.GRADING, State.AWAITING_CHOICE): Code.RUNS_LOST,
        (State.INCOMPLETE, State.HELD): Code.HELD_FOR_REVIEW,
        (State.HELD, State.COMPLETE): Code.RELEASED_AFTER_REVIEW,
        (State.HELD, State.INCOMPLETE): Code.RELEASED_AFTER_REVIEW,
        (State.HELD, State.VOIDED): Code.VOIDED_AFTER_REVIEW,
    }.get((State(state), State(to)), Code.MOVE_NOT_POSSIBLE)


def pause(
    submission_id: UUID,
    *,
    by: Actor,
    cause: Code = Code.UPSTREAM_DOWN,
    facts: Mapping[str, object] | None = None,
) -> Submission:
    """Stop the clocks of a submission whose model upstream is left alone, for the reason `cause`."""
    with transaction.atomic():
        submission = locked(submission_id)
        move(submission, State.PAUSED, cause=cause, facts=facts, by=by)
    return submission


def resume(submission_id: UUID, *, by: Actor) -> Submission:
    """Go on in the state that the pause left."""
    with transaction.atomic():
        submission = locked(submission_id)
        if submission.state != State.PAUSED:
            raise refuse(Code.MOVE_NOT_POSSIBLE, state=submission.state)
        move(submission, submission.paused_from, cause=Code.UPSTREAM_BACK, by=by)
        tickets.send("submissions.tasks.advance", submission.id)
    return submission
