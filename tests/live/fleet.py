"""A real fleet for tests: workers and scheduler as processes on the run's servers, the mini bank frozen in place."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import redis
from django.db import transaction

from benchmark.models import TaskSetVersion
from config.ids import new_id
from config.processes import ROOT, Processes
from config.site.ci_job import bundle
from embedded.supervisor import Child, Supervisor
from evaluation import packages, services
from evaluation.models import Episode, EvaluationRun, RunSecret, StoredPackage, TaskResult
from tests.factories import BY

HARNESSES = ROOT / "tests/harnesses"
SECRET = b"the same seeds in every run of it"
PATIENCE = 240.0
"""Seconds a whole run may take before a test gives up."""
OVERLAYS = {"reference": ["rule-script", "reference"]}
"""Harnesses whose files are laid over another's."""
EXECUTORS = ("execute-1", "execute-2")


@dataclass
class Fleet:
    """Two execute workers, a grade worker, an office worker and the scheduler, on the frozen `version`."""

    processes: Processes
    supervisor: Supervisor
    version: TaskSetVersion
    redis_url: str
    application: str = "config.celery"
    _packages: dict[str, StoredPackage] = field(default_factory=dict)

    def start(self) -> None:
        made = self.processes
        for name in EXECUTORS:
            self._start(made.worker(name, role="execute", queues=["execute"]))
        self._start(made.worker("grade-1", role="sealed", queues=["grade"]))
        self._start(made.worker("office-1", role="sealed", queues=["governance"]))
        self._start(made.beat())

    def _start(self, child: Child) -> None:
        command = [self.application if word == "config.celery" else word for word in child.command]
        self.supervisor.start(replace(child, command=command))

    def package(self, name: str) -> StoredPackage:
        """A sample harness, sealed as intake does it."""
        if name not in self._packages:
            folder = Path(os.environ["LINGEE_STATE_DIR"]) / f"bundle-{name}"
            for layer in OVERLAYS.get(name, [name]):
                shutil.copytree(HARNESSES / layer, folder, dirs_exist_ok=True)
            data = bundle(folder, "0.3.1")
            path = folder.with_suffix(".tar.gz")
            path.write_bytes(data)
            digest = hashlib.sha256(data).hexdigest()
            self._packages[name] = packages.seal(path, digest=digest, unpacked_size=len(data))
        return self._packages[name]

    def submit(
        self,
        harness: str,
        *,
        command: tuple[str, ...] = ("python3", "/harness/run.py"),
        kind: str = EvaluationRun.Kind.HELD_OUT,
        **more: Any,
    ) -> EvaluationRun:
        """A run with known seeds; its order is random as ever."""
        with transaction.atomic():
            run = services.create_run(
                kind=kind,
                version=self.version,
                package=self.package(harness),
                command=list(command),
                runs_per_task=more.pop("runs_per_task", 1),
                lineage_id=new_id(),
                line_id=new_id(),
                by=BY,
                **more,
            )
            RunSecret.objects.filter(run=run).update(secret=SECRET)
        return run

    def finish(self, run: EvaluationRun, meanwhile: Callable[[], object] = lambda: None) -> EvaluationRun:
        """Wait for the end of a run, calling `meanwhile` often; fails the test where it does not come."""

        def ended() -> bool:
            meanwhile()
            run.refresh_from_db()
            return run.state == EvaluationRun.State.ENDED

        assert self.supervisor.wait(PATIENCE, ended), self.trouble(run)
        return run

    def trouble(self, run: EvaluationRun) -> str:
        """What to print where a run does not end."""
        states = list(Episode.objects.filter(run=run).values_list("state", flat=True))
        counts = {state: states.count(state) for state in set(states)}
        tails = "\n".join(
            f"--- {name}\n{self.supervisor.tail(name)}" for name in (*EXECUTORS, "grade-1", "office-1")
        )
        return f"run {run.state}: {counts}\n{tails}"

    def kill(self, name: str) -> None:
        os.kill(self.supervisor.pid(name), signal.SIGKILL)

    def ask_to_end(self, name: str) -> None:
        """SIGTERM, as an orderly stop of a host sends it; the supervisor starts it again."""
        os.kill(self.supervisor.pid(name), signal.SIGTERM)

    def empty_redis(self) -> None:
        client = redis.Redis.from_url(self.redis_url)
        client.flushdb()
        client.close()

    def wait(self, condition: Callable[[], bool], seconds: float = 60.0) -> bool:
        return self.supervisor.wait(seconds, condition)


def outcomes(run: EvaluationRun) -> dict[tuple[str, int], tuple[str, bool, str]]:
    """Every result of a run by task and run index: score, success, failure type."""
    rows = TaskResult.objects.filter(episode__run=run).select_related("episode__task")
    return {
        (row.episode.task.slug, row.episode.run_index): (str(row.score), row.success, row.failure_type)
        for row in rows
    }
