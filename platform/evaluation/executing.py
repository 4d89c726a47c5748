"""The execute worker's work: claim an episode, run it in a sandbox, keep what it left. It never sees rules or gold."""

from __future__ import annotations

import errno
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from uuid import UUID

import structlog
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from audit.events import Actor
from config import store, vault
from evaluation import artefacts, claims, packages
from evaluation.assets import AssetCache, AssetsBroken
from evaluation.calls.serving import Session, UpstreamsStopped
from evaluation.claims import ExecutionClaim, Finish
from evaluation.gateway.contract import Budget
from evaluation.holding import Hold, Holding, Stop
from evaluation.images.cache import RootCache
from evaluation.models import Ending, EvaluationRun
from evaluation.sandbox.backend import Backend
from evaluation.sandbox.control import EpisodeCancelled
from evaluation.sandbox.spec import (
    InfrastructureFault,
    Limits,
    Outcome,
    Root,
    RunSpec,
    SandboxUnavailable,
)
from evaluation.services import episode_seed, wake_execute

logger = structlog.get_logger(__name__)

OUR_FAULTS = (
    ClientError,
    BotoCoreError,
    store.ObjectMissing,
    vault.SealBroken,
    AssetsBroken,
    DatabaseError,
    InterfaceError,
    OSError,
)
"""What fails on our side around an episode: the store, keys, the worker's own disk."""
IMAGES = "images"
"""The folder of unpacked images that the workers of a host share."""
CONTROL_COMMAND = ("true",)
FOLLOWS_HARNESS = "fault_follows_harness"
LONGEST_REST = 30.0
"""Seconds between two claims of a worker whose machine or store fails."""
WAIT_SECONDS = 0.2
"""Between two looks at a kernel that is taken by episodes of the other sort."""


@lru_cache(maxsize=8)
def run_row(run_id: UUID) -> EvaluationRun:
    """What a run never changes: package, command, limit, secret. Its state is not to be read from here."""
    return EvaluationRun.objects.select_related("package", "secret").get(pk=run_id)


def place_of(error: BaseException) -> str:
    """Kind and place of an exception. Its text stays out of logs: it may quote what a harness or a task says."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}"


@dataclass(frozen=True)
class Host:
    """What a worker's machine adds to each of its attempts, and which kinds of runs it may claim."""

    identity: str = ""
    speed_class: str = ""
    kinds: tuple[str, ...] = claims.EVERY_KIND


class Executor:
    """One worker process's hands. `place` is its private folder; nothing in it outlives the process."""

    def __init__(
        self, worker: str, place: Path, runtime: Backend, host: Callable[[], Host] | None = None
    ) -> None:
        self.worker = worker
        self._host = host or Host
        self._kernel = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self._actor = Actor(kind="worker", id=worker)
        self._sandbox = runtime
        self._assets = AssetCache(place / "assets")
        self._packages = place / "packages"
        self._images = RootCache(Path(settings.WORK_DIR) / IMAGES, settings.IMAGE_CACHE_BYTES)
        self._scratch = place / "episodes"
        self._scratch.mkdir(parents=True, exist_ok=True)
        self._faults = 0
        """Of this machine or the store, one after the other."""

    def run_one(self, holding: Holding) -> bool:
        """Claim and run one episode; False where nothing was to be had. What `holding` holds is watched over."""
        self._recover(holding)
        asked = time.monotonic()
        try:
            host = self._host()
            claim = claims.claim_execution(self.worker, self._kernel, host.identity, host.kinds)
        except claims.KernelTaken:
            time.sleep(WAIT_SECONDS)
            return True
        if claim is None:
            return False
        with holding.hold(claim, asked) as hold:
            finish = self._run(claim, hold)
            written = finish is not None and self._write(claim, hold, finish)
        if finish is None:
            self._let_go(claim, hold)
        elif not written:
            logger.info("claim_lost", attempt=str(claim.attempt_id))
        return True

    def _recover(self, holding: Holding) -> None:
        """Wait after faults of our own, longer each time: who fails at once would else take the most claims."""
        until = time.monotonic() + (min(2.0 ** (self._faults - 1), LONGEST_REST) if self._faults else 0.0)
        while time.monotonic() < until and not holding.leaving:
            time.sleep(min(1.0, max(0.0, until - time.monotonic())))

    def _write(self, claim: ExecutionClaim, hold: Hold, finish: Finish) -> bool:
        """Write the end, again and again while the claim may be good: the work is done, and a database comes back."""
        while True:
            try:
                return claims.finish_attempt(claim, finish, by=self._actor)
            except (OperationalError, InterfaceError) as error:
                logger.warning("finish_not_written", error=type(error).__name__)
                connection.close()
                if hold.stopped is not None:
                    return False
                time.sleep(WAIT_SECONDS)

    def _let_go(self, claim: ExecutionClaim, hold: Hold) -> None:
        """No process of it is left. Where the claim was lost, whoever voided it wrote the attempt's end."""
        handed = hold.stopped is Stop.HAND_BACK and claims.hand_back(claim, by=self._actor)
        logger.info("handed_back" if handed else "claim_lost", attempt=str(claim.attempt_id))
        if handed:
            wake_execute()

    def _run(self, claim: ExecutionClaim, hold: Hold) -> Finish | None:
        """How the attempt ended; None where it was stopped from outside."""
        try:
            return self._try(claim, hold)
        except UpstreamsStopped:
            return Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=claims.UPSTREAM_STOPPED)
        except EpisodeCancelled:
            return None
        except SandboxUnavailable as fault:
            self._faults += 1
            return Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=fault.code)
        except InfrastructureFault as fault:
            return self._after_fault(claim, hold, fault.code)
        except OUR_FAULTS as fault:
            self._faults += 1
            logger.warning("attempt_failed", attempt=str(claim.attempt_id), error=type(fault).__name__)
            return Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=_ours(fault))
        except Exception as error:  # noqa: BLE001 - whatever it is, the claim gets its end
            logger.error("attempt_failed", attempt=str(claim.attempt_id), error=place_of(error))
            return self._after_fault(claim, hold, "worker_error")

    def _after_fault(self, claim: ExecutionClaim, hold: Hold, cause: str) -> Finish | None:
        """A fault around the sandbox: tried again first; the last time a control tells whose it is.

        The same task is run in the same place with a command that does nothing. If that works, the fault follows
        the harness, and the run is valid: stopped by a limit, with nothing to show. Otherwise a harness could choose
        which tasks count, by breaking what runs it.
        """
        if claim.attempts > claims.retries():
            try:
                return replace(
                    self._try(claim, hold, command=CONTROL_COMMAND),
                    ending=Ending.LIMIT_EXCEEDED,
                    cause=FOLLOWS_HARNESS,
                    has_output=False,
                )
            except EpisodeCancelled:
                return None
            except Exception as error:  # noqa: BLE001 - then it is our fault indeed
                logger.error("control_failed", attempt=str(claim.attempt_id), error=place_of(error))
        return Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=cause)

    def _try(self, claim: ExecutionClaim, hold: Hold, command: tuple[str, ...] | None = None) -> Finish:
        run = run_row(claim.run_id)
        folder = Path(tempfile.mkdtemp(prefix="e-", dir=self._scratch))
        budget = Budget(claim.budget_steps, claim.budget_tokens)
        sort = "held_out" if run.kind == EvaluationRun.Kind.HELD_OUT else "shown"
        session = Session(
            claim.attempt_id, claim.run_id, budget, sort=sort, control=hold.control, by=self._actor
        )
        try:
            with packages.in_place(run.package, self._packages, self._images) as (harness, root):
                spec = replace(self._spec(claim, run, harness, root), variables=session.variables)
                asked = replace(spec, command=command) if command else spec
                outcome = session.run(lambda: self._sandbox.run_episode(asked, folder, session.control))
            self._faults = 0
            effort = session.effort()
            snapshot = outcome.snapshot.read_bytes() if outcome.snapshot else b""
            data = artefacts.bundle(outcome, snapshot, tokens=effort.tokens)
            key = packages.store_artefacts(run.package, data)
        finally:
            session.close()
            shutil.rmtree(folder, ignore_errors=True)
        silent = outcome.ending.value == Ending.CRASHED and not (outcome.reply or outcome.wrote)
        brought = spec.workspace_tar
        assert isinstance(brought, bytes), "it came from a pack"
        answer = artefacts.answer_digest(snapshot, outcome.reply, brought)
        finish = _finish(outcome, key, (artefacts.digest(data), answer), has_output=not silent)
        host = self._host()
        signals = {**finish.signals, **effort.signals()}
        found = replace(finish, host=host.identity, speed_class=host.speed_class, signals=signals)
        return replace(found, **vars(effort))

    def _spec(self, claim: ExecutionClaim, run: EvaluationRun, harness: Path, root: Root | None) -> RunSpec:
        files = self._assets.files(claim.pack_id, claim.offset, claim.size)
        seconds = min(claim.budget_seconds, run.limit_seconds or claim.budget_seconds)
        return RunSpec(
            opaque_id=claim.attempt_id.hex,
            command=tuple(run.command),
            harness_dir=harness,
            root=root,
            instruction=files["instruction.md"],
            turns=tuple(files[f"turns/turn_{number}.md"] for number in range(2, claim.turns + 1)),
            workspace_tar=files["environment/workspace.tar.gz"],
            seed=episode_seed(bytes(run.secret.secret), str(claim.task_id), claim.run_index),
            budget_seconds=seconds,
            budget_steps=claim.budget_steps,
            budget_tokens=claim.budget_tokens,
            limits=Limits(seconds=seconds),
        )


def _ours(fault: BaseException) -> str:
    """Which of our faults it is: a full disk is worth knowing apart, for somebody has to clear it."""
    full = isinstance(fault, OSError) and fault.errno in (errno.ENOSPC, errno.EDQUOT)
    return "disk_full" if full else "store_or_disk"


def _finish(outcome: Outcome, key: str, digests: tuple[str, str], *, has_output: bool) -> Finish:
    """`digests` are those of all that is kept, and of the answer alone."""
    cause = outcome.which_budget or ",".join(outcome.limit_hits)
    return Finish(
        ending=outcome.ending.value,
        cause=cause[:64],
        exit_code=outcome.exit_code,
        seconds=outcome.seconds,
        isolation=outcome.isolation[:64],
        has_output=has_output,
        artefact_key=key,
        artefact_sha256=digests[0],
        answer_sha256=digests[1],
        signals=dict(outcome.signals),
    )
