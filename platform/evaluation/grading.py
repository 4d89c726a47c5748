"""The grade worker's work: claim an executed episode, grade what it left in a second sandbox, store the result."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import structlog

from config import clock
from evaluation import artefacts, claims, packages
from evaluation.artefacts import Left
from evaluation.assets import AssetCache
from evaluation.claims import GradingClaim
from evaluation.executing import OUR_FAULTS, place_of, run_row
from evaluation.grader.reward import decimal_text, decode
from evaluation.holding import Holding
from evaluation.models import EvaluationRun, PublicTaskResult, TaskResult
from evaluation.sandbox.backend import Backend
from evaluation.sandbox.spec import GradeSpec
from scoring.channel import FailureType, RuleOutcome
from scoring.run import RunScore, score_run, with_ending

logger = structlog.get_logger(__name__)

LOG_CHARACTERS = 64 * 1024
"""What a preflight page shows of one output stream or reply."""
GRADE_SECONDS = 10.0
"""A grading takes well under a tenth of a second; what takes a hundred times that is made to."""
CONTROL_AT = 2
"""Which grading of an episode, in turn, is followed by a control where it fails too."""
EMPTY_TAR = bytes(1024)
UNREADABLE = RuleOutcome(
    score=Decimal(0),
    success=False,
    threshold_failed=(),
    fatal_failed=(),
    items=(),
    failure_type=FailureType.MISSING_DELIVERABLE,
)
"""A run whose artefacts stop the grader: there is no deliverable that could be read."""
GRADING = "tests/grading/"


@dataclass(frozen=True)
class Graded:
    """All that makes up one result."""

    run: EvaluationRun
    left: Left
    outcome: RuleOutcome


class ArtefactsLost(Exception):
    """What the store holds is not what the attempt left."""


class GraderFault(Exception):
    """The grader itself failed; says nothing about the run."""


class Grader:
    """One grade worker's hands; the second sandbox holds rules and snapshot, and no vendor process."""

    def __init__(self, worker: str, place: Path, sandbox: Backend, version: str, host: str = "") -> None:
        self.worker, self.host = worker, host
        self._sandbox = sandbox
        self._assets = AssetCache(place / "assets")
        self._scratch = place / "gradings"
        self._scratch.mkdir(parents=True, exist_ok=True)
        self._version = version[:64]

    def grade_one(self, holding: Holding) -> bool:
        """Claim and grade one episode; False where nothing was to be had."""
        claim = claims.claim_grading(self.worker, self.host)
        if claim is None:
            return False
        with holding.hold(claim):
            self._try(claim)
        return True

    def _try(self, claim: GradingClaim) -> None:
        try:
            self._grade(claim)
        except (ArtefactsLost, *OUR_FAULTS) as fault:
            logger.warning("grading_failed", attempt=str(claim.attempt_id), error=type(fault).__name__)
            claims.fail_grading(claim)
        except Exception as error:  # noqa: BLE001 - whatever it is, the claim gets its end
            logger.warning("grading_failed", attempt=str(claim.attempt_id), error=place_of(error))
            self._after_fault(claim)

    def _after_fault(self, claim: GradingClaim) -> None:
        """A technical fault while grading: tried once more; then a control tells whose it is.

        The same rules are graded against an empty workspace. If that works, the fault follows the artefacts: the run
        is valid, and nothing in it could be read. Otherwise a harness could choose which tasks count.
        """
        if claim.gradings < CONTROL_AT:
            claims.fail_grading(claim)
            return
        try:
            graded = self._graded(claim, control=True)
            claims.finish_grading(claim, lambda: self._store(claim, graded))
        except Exception as error:  # noqa: BLE001 - then it is our fault indeed
            logger.error("control_failed", attempt=str(claim.attempt_id), error=place_of(error))
            claims.fail_grading(claim)

    def _grade(self, claim: GradingClaim) -> None:
        graded = self._graded(claim)
        claims.finish_grading(claim, lambda: self._store(claim, graded))

    def again(self, claim: GradingClaim) -> RunScore:
        """What grading finds in an attempt that was graded before, by the same steps; nothing is stored.

        Raises ArtefactsLost, OUR_FAULTS, and whatever stops the control too.
        """
        for _ in range(CONTROL_AT):
            try:
                return _score(self._graded(claim))
            except (ArtefactsLost, *OUR_FAULTS):
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again, and then the control
                logger.warning("grading_failed", attempt=str(claim.attempt_id), error=place_of(error))
        return _score(self._graded(claim, control=True))

    def _graded(self, claim: GradingClaim, *, control: bool = False) -> Graded:
        run = run_row(claim.run_id)
        data = packages.load_artefacts(run.package, claim.artefact_key)
        if artefacts.digest(data) != claim.artefact_sha256:
            raise ArtefactsLost("artefacts differ from their digest")
        left = artefacts.unbundle(data)
        if control:
            self._outcome(claim, replace(left, snapshot=EMPTY_TAR, reply=None))
            return Graded(run=run, left=left, outcome=UNREADABLE)
        return Graded(run=run, left=left, outcome=self._outcome(claim, left))

    def _outcome(self, claim: GradingClaim, left: Left) -> RuleOutcome:
        files = self._assets.files(claim.pack_id, claim.offset, claim.size)
        folder = Path(tempfile.mkdtemp(prefix="g-", dir=self._scratch))
        try:
            snapshot = folder / "snapshot.tar"
            snapshot.write_bytes(left.snapshot)
            spec = GradeSpec(
                rules_json=files["rules.json"],
                snapshot=snapshot,
                reply=left.reply,
                seconds=GRADE_SECONDS,
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
        return decode(outcome.reward)

    def _store(self, claim: GradingClaim, graded: Graded) -> None:
        run, left, outcome = graded.run, graded.left, graded.outcome
        found = _score(graded)
        common: dict[str, Any] = {
            "score": found.score,
            "success": found.success,
            "failure_type": found.failure_type or "",
            "ending": left.ending["ending"],
            "items": [
                {"id": item.id, "score": decimal_text(item.score), "reason": item.reason.value}
                for item in outcome.items
            ],
            "seconds": left.ending["seconds"],
            "tokens": left.ending.get("tokens"),
            "grader_version": self._version,
            "graded_at": clock.now(),
        }
        if run.kind != EvaluationRun.Kind.PREFLIGHT:
            TaskResult.objects.create(episode_id=claim.episode_id, attempt_id=claim.attempt_id, **common)
            return
        PublicTaskResult.objects.create(
            run=run,
            task_id=claim.task_id,
            task_label=claim.task_label,
            domain=claim.domain,
            run_index=claim.run_index,
            exit_code=claim.exit_code,
            has_output=claim.has_output,
            stdout=artefacts.readable(left.stdout, most=LOG_CHARACTERS),
            stderr=artefacts.readable(left.stderr, most=LOG_CHARACTERS),
            reply=artefacts.readable(left.reply or b"", most=LOG_CHARACTERS),
            **common,
        )


def _score(graded: Graded) -> RunScore:
    return with_ending(score_run(graded.outcome), graded.left.ending["ending"])
