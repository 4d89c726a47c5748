"""The execute worker's work: claim an episode, run it in a sandbox, keep what it left. It never sees rules or gold."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import structlog
from botocore.exceptions import BotoCoreError, ClientError

from audit.events import Actor
from benchmark.models import TaskRevision
from config import store, vault
from evaluation import artefacts, claims, packages
from evaluation.assets import AssetCache, AssetsBroken
from evaluation.claims import Claim, Finish
from evaluation.models import Ending, EvaluationRun
from evaluation.sandbox import bubblewrap
from evaluation.sandbox.spec import InfrastructureFault, Limits, Outcome, RunSpec
from evaluation.services import episode_seed

logger = structlog.get_logger(__name__)

OUR_FAULTS = (ClientError, BotoCoreError, store.ObjectMissing, vault.SealBroken, AssetsBroken, OSError)
"""What fails on our side around an episode: the store, keys, the worker's own disk."""
TASK_COLUMNS = (
    "id",
    "turns",
    "budget_seconds",
    "budget_steps",
    "budget_tokens",
    "environment_pack_id",
    "environment_offset",
    "environment_size",
)


class Executor:
    """One worker process's hands. `place` is its private folder; nothing in it outlives the process."""

    def __init__(self, worker: str, place: Path, runtime: bubblewrap.Backend) -> None:
        self.worker = worker
        self._actor = Actor(kind="worker", id=worker)
        self._sandbox = runtime
        self._assets = AssetCache(place / "assets")
        self._packages = place / "packages"
        self._scratch = place / "episodes"
        self._scratch.mkdir(parents=True, exist_ok=True)

    def run_one(self, holding: list[Claim]) -> bool:
        """Claim and run one episode; False where nothing was to be had. `holding` is what the heartbeat renews."""
        claim = claims.claim_execution(self.worker)
        if claim is None:
            return False
        holding.append(claim)
        try:
            finish = self._run(claim)
        finally:
            holding.remove(claim)
        if not claims.finish_attempt(claim, finish, by=self._actor):
            logger.info("claim_lost", attempt=str(claim.attempt_id))
        return True

    def _run(self, claim: Claim) -> Finish:
        try:
            return self._try(claim)
        except InfrastructureFault as fault:
            return Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=fault.code)
        except OUR_FAULTS as fault:
            logger.warning("attempt_failed", attempt=str(claim.attempt_id), error=type(fault).__name__)
            return Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause="store_or_disk")

    def _try(self, claim: Claim) -> Finish:
        run = EvaluationRun.objects.select_related("package", "secret").get(pk=claim.run_id)
        folder = Path(tempfile.mkdtemp(prefix="e-", dir=self._scratch))
        try:
            outcome = self._sandbox.run_episode(self._spec(claim, run), folder)
            snapshot = outcome.snapshot.read_bytes() if outcome.snapshot else b""
            data = artefacts.bundle(outcome, snapshot)
            key = f"artefacts/{claim.run_id}/{claim.attempt_id}"
            packages.store_artefacts(run.package, key, data)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        silent = outcome.ending.value == Ending.CRASHED and not (outcome.reply or outcome.wrote)
        return _finish(outcome, key, artefacts.digest(data), has_output=not silent)

    def _spec(self, claim: Claim, run: EvaluationRun) -> RunSpec:
        task = TaskRevision.objects.only(*TASK_COLUMNS).get(pk=claim.task_id)
        files = self._assets.files(task.environment_pack_id, task.environment_offset, task.environment_size)
        seconds = min(task.budget_seconds, run.limit_seconds or task.budget_seconds)
        return RunSpec(
            opaque_id=claim.attempt_id.hex,
            command=tuple(run.command),
            harness_dir=packages.unpacked(run.package, self._packages),
            instruction=files["instruction.md"],
            turns=tuple(files[f"turns/turn_{number}.md"] for number in range(2, task.turns + 1)),
            workspace_tar=files["environment/workspace.tar.gz"],
            seed=episode_seed(bytes(run.secret.secret), str(claim.task_id), claim.run_index),
            budget_seconds=seconds,
            budget_steps=task.budget_steps,
            budget_tokens=task.budget_tokens,
            limits=Limits(seconds=seconds),
        )


def _finish(outcome: Outcome, key: str, digest: str, *, has_output: bool) -> Finish:
    cause = outcome.which_budget or ",".join(outcome.limit_hits)
    return Finish(
        ending=outcome.ending.value,
        cause=cause[:64],
        exit_code=outcome.exit_code,
        seconds=outcome.seconds,
        isolation=outcome.isolation[:64],
        has_output=has_output,
        artefact_key=key,
        artefact_sha256=digest,
    )
