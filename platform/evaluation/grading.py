"""The grade worker's work: claim an executed episode, grade what it left in a second sandbox, store the result."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import structlog

from benchmark.models import TaskRevision
from config import clock
from evaluation import artefacts, claims, packages
from evaluation.artefacts import Left
from evaluation.assets import AssetCache
from evaluation.claims import Claim
from evaluation.executing import OUR_FAULTS
from evaluation.models import Attempt, Ending, EvaluationRun, PublicTaskResult, TaskResult
from evaluation.sandbox import bubblewrap
from evaluation.sandbox.spec import GradeSpec, InfrastructureFault

logger = structlog.get_logger(__name__)

BUDGET_EXHAUSTED = "budget_exhausted"
LOG_CHARACTERS = 64 * 1024
"""What a preflight page shows of one output stream or reply."""
GRADING = "tests/grading/"


@dataclass(frozen=True)
class Reward:
    """The grader's verdict (reward/1). `score` in [0, 1]."""

    score: Decimal
    success: bool
    failure_type: str
    items: list[Any]


@dataclass(frozen=True)
class Graded:
    """All that makes up one result."""

    run: EvaluationRun
    attempt: Attempt
    task: TaskRevision
    left: Left
    reward: Reward


class GraderFault(Exception):
    """The grader itself failed; says nothing about the run."""


def read_reward(data: bytes, ending: str) -> Reward:
    """Parse a reward file; raises GraderFault where it is not one.

    A run that used up a budget and did not succeed failed for that reason, whatever else is missing.
    """
    try:
        found = json.loads(data)
        score, success = Decimal(found["score"]), found["success"]
        if found["schema"] != "reward/1" or not isinstance(success, bool) or not 0 <= score <= 1:
            raise ValueError("not a reward")
        failure = found["failure_type"] or ""
        items = list(found["items"])
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise GraderFault("no valid reward") from error
    if ending == Ending.BUDGET_EXHAUSTED and not success:
        failure = BUDGET_EXHAUSTED
    return Reward(score=score, success=success, failure_type=failure, items=items)


class Grader:
    """One grade worker's hands; the second sandbox holds rules and snapshot, and no vendor process."""

    def __init__(self, worker: str, place: Path, sandbox: bubblewrap.Backend, version: str) -> None:
        self.worker = worker
        self._sandbox = sandbox
        self._assets = AssetCache(place / "assets")
        self._scratch = place / "gradings"
        self._scratch.mkdir(parents=True, exist_ok=True)
        self._version = version[:64]

    def grade_one(self, holding: list[Claim]) -> bool:
        """Claim and grade one episode; False where nothing was to be had."""
        claim = claims.claim_grading(self.worker)
        if claim is None:
            return False
        holding.append(claim)
        try:
            self._grade(claim)
        except (GraderFault, InfrastructureFault, *OUR_FAULTS) as fault:
            logger.warning("grading_failed", attempt=str(claim.attempt_id), error=type(fault).__name__)
            claims.fail_grading(claim)
        finally:
            holding.remove(claim)
        return True

    def _grade(self, claim: Claim) -> None:
        run = EvaluationRun.objects.select_related("package").get(pk=claim.run_id)
        attempt = Attempt.objects.get(pk=claim.attempt_id)
        task = TaskRevision.objects.get(pk=claim.task_id)
        data = packages.load_artefacts(run.package, attempt.artefact_key)
        if artefacts.digest(data) != attempt.artefact_sha256:
            raise GraderFault("artefacts differ from their digest")
        left = artefacts.unbundle(data)
        reward = self._reward(task, left)
        graded = Graded(run=run, attempt=attempt, task=task, left=left, reward=reward)
        claims.finish_grading(claim, lambda: self._store(claim, graded))

    def _reward(self, task: TaskRevision, left: Left) -> Reward:
        files = self._assets.files(task.grading_pack_id, task.grading_offset, task.grading_size)
        folder = Path(tempfile.mkdtemp(prefix="g-", dir=self._scratch))
        try:
            snapshot = folder / "snapshot.tar"
            snapshot.write_bytes(left.snapshot)
            spec = GradeSpec(
                rules_json=files["rules.json"],
                snapshot=snapshot,
                reply=left.reply,
                scripts={
                    name.removeprefix("tests/"): data
                    for name, data in files.items()
                    if name.startswith(GRADING) and name.endswith(".py")
                },
            )
            outcome = self._sandbox.run_grader(spec)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if outcome.reward is None:
            raise GraderFault(outcome.fault or "no reward")
        return read_reward(outcome.reward, left.ending["ending"])

    def _store(self, claim: Claim, graded: Graded) -> None:
        run, attempt, task, left, reward = graded.run, graded.attempt, graded.task, graded.left, graded.reward
        common: dict[str, Any] = {
            "score": reward.score,
            "success": reward.success,
            "failure_type": reward.failure_type,
            "ending": left.ending["ending"],
            "items": reward.items,
            "seconds": left.ending["seconds"],
            "grader_version": self._version,
            "graded_at": clock.now(),
        }
        if run.kind != EvaluationRun.Kind.PREFLIGHT:
            TaskResult.objects.create(episode_id=claim.episode_id, attempt=attempt, **common)
            return
        PublicTaskResult.objects.create(
            run=run,
            task=task,
            task_label=task.slug,
            domain=task.domain,
            run_index=claim.run_index,
            exit_code=attempt.exit_code,
            has_output=attempt.has_output,
            stdout=artefacts.readable(left.stdout, most=LOG_CHARACTERS),
            stderr=artefacts.readable(left.stderr, most=LOG_CHARACTERS),
            reply=artefacts.readable(left.reply or b"", most=LOG_CHARACTERS),
            **common,
        )
