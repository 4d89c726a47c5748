"""What evaluation would write about runs, by hand: results of public tasks, a crashed canary, lost episodes."""

from __future__ import annotations

from decimal import Decimal

from config import clock
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, PublicTaskResult, TaskResult
from submissions import services
from submissions.models import Submission
from tests.factories import saved
from tests.submissions import world


def public_results(run: EvaluationRun, *, crashed: int = 0) -> None:
    """A result for each episode of a preflight, `crashed` of them without artefact or reply; then it has ended."""
    episodes = list(Episode.objects.filter(run=run).select_related("task").order_by("position"))
    for number, episode in enumerate(episodes):
        silent = number < crashed
        PublicTaskResult.objects.create(
            run=run,
            task=episode.task,
            task_label=episode.task.slug,
            domain=episode.task.domain,
            run_index=episode.run_index,
            score=Decimal(0) if silent else Decimal("0.5"),
            success=False,
            ending=Ending.CRASHED if silent else Ending.FINISHED,
            has_output=not silent,
            exit_code=1 if silent else 0,
            stdout=f"log of {episode.task.slug}",
            seconds=1.0,
            grader_version="1",
            graded_at=clock.now(),
        )
    world.end_run(run)


def crash_canary(run: EvaluationRun) -> None:
    episode = Episode.objects.get(run=run)
    saved(
        Attempt(
            episode=episode,
            number=1,
            fence=1,
            worker="w",
            started_at=clock.now(),
            ended_at=clock.now(),
            ending=Ending.CRASHED,
            has_output=False,
        )
    )
    world.end_run(run)


def lose(run: EvaluationRun, count: int) -> None:
    """End a run with `count` episodes that infrastructure took."""
    lost = list(Episode.objects.filter(run=run).order_by("position").values_list("pk", flat=True)[:count])
    Episode.objects.filter(run=run).exclude(pk__in=lost).update(state=Episode.State.GRADED)
    Episode.objects.filter(pk__in=lost).update(state=Episode.State.UNAVAILABLE)
    world.end_run(run, missing=count)


def bring_to(submission: Submission, state: str) -> Submission:
    """Take a fresh submission along the straight way to `state`, through the services that workers call."""
    if state == "created":
        return submission
    if state == "checking":
        services.begin_check(submission.id, by=world.BY)
        return _again(submission)
    services.check(submission.id)
    submission = _again(submission)
    if state == "preflight":
        return submission
    assert submission.preflight_run is not None
    public_results(submission.preflight_run)
    services.advance(submission.id)
    submission = _again(submission)
    if state == "queued":
        return submission
    world.end_run(submission.canary_run)
    services.advance(submission.id)
    submission = _again(submission)
    if state == "running":
        return submission
    if state == "paused":
        services.pause(submission.id, by=world.BY)
        return _again(submission)
    world.end_run(submission.held_out_run)
    services.advance(submission.id)
    submission = _again(submission)
    if state == "grading":
        return submission
    return services.conclude(submission, state, by=world.BY)


def _again(submission: Submission) -> Submission:
    return Submission.objects.select_related("preflight_run", "canary_run", "held_out_run", "slot").get(
        pk=submission.pk
    )


def graded(episode: Episode, answer: str, *, is_right: bool, tokens: int | None = None) -> None:
    """A run that ended well, with this digest of its answer, and its grade, as a worker would have written them."""
    attempt = Attempt.objects.create(
        episode=episode,
        number=1,
        fence=1,
        worker="w",
        started_at=clock.now(),
        ending=Ending.FINISHED,
        has_output=True,
        answer_sha256=answer,
    )
    TaskResult.objects.create(
        episode=episode,
        attempt=attempt,
        score=Decimal(int(is_right)),
        success=is_right,
        failure_type="" if is_right else "numeric_or_state_error",
        ending=Ending.FINISHED,
        seconds=1.5,
        tokens=tokens,
        grader_version="1",
        graded_at=clock.now(),
    )
