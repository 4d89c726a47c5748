"""A fault that follows the harness or its artefacts is the harness's own: no harness chooses which tasks count."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evaluation import claims, services
from evaluation.executing import CONTROL_COMMAND, FOLLOWS_HARNESS, Executor
from evaluation.grading import EMPTY_TAR, Grader
from evaluation.holding import Holding
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, TaskResult
from evaluation.sandbox import bubblewrap
from evaluation.sandbox.backend import Backend
from evaluation.sandbox.backends import default_backend
from evaluation.sandbox.control import Control
from evaluation.sandbox.spec import GradeOutcome, GradeSpec, Outcome, RunSpec, SandboxStartFailed
from tests.live.fleet import Fleet

pytestmark = [pytest.mark.serial, pytest.mark.timeout(300)]


class Broken(bubblewrap.Backend):
    """The real sandbox, but for what `breaks` and `breaks_grading` say."""

    breaks: Callable[[RunSpec], bool] = staticmethod(lambda spec: False)
    breaks_grading: Callable[[GradeSpec], bool] = staticmethod(lambda spec: False)

    def run_episode(self, spec: RunSpec, workdir: Path, control: Control | None = None) -> Outcome:
        if self.breaks(spec):
            raise SandboxStartFailed("broken for the test")
        return super().run_episode(spec, workdir, control)

    def run_grader(self, spec: GradeSpec, *more: Any) -> GradeOutcome:
        if self.breaks_grading(spec):
            return GradeOutcome(None, "grader_overdue", None, 10.0, b"")
        return super().run_grader(spec, *more)


@pytest.fixture
def one(imported: Any, tmp_path: Path, servers: Any) -> EvaluationRun:
    """A held-out run cut down to one episode."""
    fleet = Fleet(None, None, imported, "")  # type: ignore[arg-type]
    run = fleet.submit("rule-script")
    keep = Episode.objects.filter(run=run).order_by("position").values_list("pk", flat=True)[0]
    Episode.objects.filter(run=run).exclude(pk=keep).update(state=Episode.State.CANCELLED)
    return run


def execute(sandbox: Backend, place: Path) -> None:
    executor = Executor("w", place, sandbox)
    for _ in range(claims.retries() + 1):
        executor.run_one(Holding())


def grade(sandbox: Backend, place: Path) -> None:
    grader = Grader("g", place, sandbox, "1")
    for _ in range(claims.retries() + 1):
        grader.grade_one(Holding())


def test_a_harness_that_breaks_the_sandbox_is_scored(one: EvaluationRun, tmp_path: Path) -> None:
    sandbox = Broken(default_backend().copies)
    sandbox.breaks = lambda spec: spec.command != CONTROL_COMMAND  # type: ignore[method-assign]
    execute(sandbox, tmp_path)
    attempts = list(
        Attempt.objects.filter(episode__run=one).order_by("number").values_list("ending", "cause")
    )
    assert attempts[-1] == (Ending.LIMIT_EXCEEDED, FOLLOWS_HARNESS)
    assert [ending for ending, _ in attempts[:-1]] == [Ending.INFRASTRUCTURE_FAULT] * claims.retries()
    grade(sandbox, tmp_path)
    result = TaskResult.objects.get(episode__run=one)
    assert not result.score
    assert not result.success
    sandbox.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A worker's folder on a disk of its own of 2 MiB."""
    if os.geteuid():
        pytest.skip("only root mounts a disk")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=711", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("G22")
def test_a_full_disk_of_a_worker_is_ours_and_another_worker_goes_on(
    one: EvaluationRun, small_disk: Path, tmp_path: Path
) -> None:
    sandbox = default_backend()
    executor = Executor("full", small_disk, sandbox)
    with suppress(OSError), (small_disk / "rubbish").open("wb") as rubbish:
        while True:
            rubbish.write(bytes(64 * 1024))
    assert not shutil.disk_usage(small_disk).free
    assert executor.run_one(Holding())
    first = Attempt.objects.get(episode__run=one)
    assert (first.ending, first.cause) == (Ending.INFRASTRUCTURE_FAULT, "disk_full")
    assert Episode.objects.get(run=one, state=Episode.State.READY).pk == first.episode_id
    execute(sandbox, tmp_path)
    grade(sandbox, tmp_path)
    result = TaskResult.objects.get(episode__run=one)
    assert (result.attempt.number, result.attempt.worker) == (2, "w")
    assert services.settle_run(one.id) == EvaluationRun.State.ENDED
    one.refresh_from_db()
    assert one.missing == 0


@pytest.mark.case("G22")
def test_a_grader_whose_disk_is_full_leaves_the_episode_to_others(
    one: EvaluationRun, small_disk: Path, tmp_path: Path
) -> None:
    sandbox = default_backend()
    execute(sandbox, tmp_path)
    grader = Grader("full", small_disk, sandbox, "1")
    with suppress(OSError), (small_disk / "rubbish").open("wb") as rubbish:
        while True:
            rubbish.write(bytes(64 * 1024))
    assert grader.grade_one(Holding())
    assert Episode.objects.filter(run=one, state=Episode.State.EXECUTED).exists()
    assert not TaskResult.objects.filter(episode__run=one).exists()
    grade(sandbox, tmp_path)
    assert TaskResult.objects.filter(episode__run=one).exists()


def test_a_sandbox_that_is_broken_for_everybody_is_ours(one: EvaluationRun, tmp_path: Path) -> None:
    sandbox = Broken(default_backend().copies)
    sandbox.breaks = lambda spec: True  # type: ignore[method-assign]
    execute(sandbox, tmp_path)
    assert Episode.objects.filter(run=one, state=Episode.State.UNAVAILABLE).exists()
    assert not TaskResult.objects.filter(episode__run=one).exists()
    services.settle_run(one.id)
    one.refresh_from_db()
    assert one.missing == 1
    sandbox.close()


def test_artefacts_that_stop_the_grader_are_scored_as_nothing_delivered(
    one: EvaluationRun, tmp_path: Path
) -> None:
    sandbox = Broken(default_backend().copies)
    execute(sandbox, tmp_path)
    sandbox.breaks_grading = lambda spec: spec.snapshot.read_bytes() != EMPTY_TAR  # type: ignore[method-assign]
    grade(sandbox, tmp_path)
    result = TaskResult.objects.get(episode__run=one)
    assert not result.score
    assert (result.success, result.failure_type) == (False, "missing_deliverable")
    sandbox.close()


def test_a_grader_that_is_broken_for_everybody_is_ours(one: EvaluationRun, tmp_path: Path) -> None:
    sandbox = Broken(default_backend().copies)
    execute(sandbox, tmp_path)
    sandbox.breaks_grading = lambda spec: True  # type: ignore[method-assign]
    grade(sandbox, tmp_path)
    assert Episode.objects.filter(run=one, state=Episode.State.UNAVAILABLE).exists()
    assert not TaskResult.objects.filter(episode__run=one).exists()
    sandbox.close()
