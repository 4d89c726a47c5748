"""main-job:2, fleet:2: what the platform costs above a bare loop, and its own time outside sandbox and grader."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from tests.benchmarks.registry import Bar, bars

ROOT = Path(__file__).resolve().parents[2]
HARNESS = ROOT / "tests/harnesses/rule-script"
COMMAND = ("python3", "/harness/run.py")
SAMPLE, SEED, PAIRS = 300, 20261101, 3
RATIO, NOOP_RATIO, MILLISECONDS = 1.3, 1.4, 30.0
PATIENCE = 300.0
SERVERS = ("postgres", "valkey-server", "nanio", "celery", "sequencer")
"""Words in the command lines of the platform's own processes; keepers and sandboxes carry none of them."""


@dataclass(frozen=True)
class Load:
    """What is run, on how many tasks, in how many pairs."""

    command: tuple[str, ...]
    sample: int
    pairs: int


NOTHING = Load(("true",), sample=120, pairs=3)


@bars.measure("main-job:2")
def overhead() -> list[Bar]:
    """Three interleaved pairs of a bare loop and a run of the platform on the same 300 tasks, equal scores."""
    ratio, cost = _compared(Load(COMMAND, SAMPLE, PAIRS))
    return [
        Bar("ratio", figure=ratio, at_most=RATIO, unit="x"),
        Bar("platform_cpu_per_episode", figure=cost, at_most=MILLISECONDS, unit="ms"),
    ]


@bars.measure("fleet:2")
def nothing() -> list[Bar]:
    """The same with a command that does nothing: bare sandbox starts and gradings against the whole way."""
    ratio, cost = _compared(NOTHING)
    return [
        Bar("noop_ratio", figure=ratio, at_most=NOOP_RATIO, unit="x"),
        Bar("noop_platform_cpu", figure=cost, at_most=MILLISECONDS, unit="ms"),
    ]


def _compared(load: Load) -> tuple[float, float]:
    """Medians over the pairs: seconds over seconds, and milliseconds of the platform's own processor time."""
    from config.site.stage import stage

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        place.chmod(0o711)
        with stage(place / "state", "bench", lambda text: None) as site:
            os.environ.update(site.processes.environment("test"))
            version = _prepare(site, place, load.sample)
            _start(site)
            ratios, costs = [], []
            for _ in range(load.pairs):
                bare = _bare(place, load.command)
                seconds, processor, scores = _platform(site, version, load.command)
                assert scores == bare["scores"], "the two must find the same"
                ratios.append(seconds / bare["seconds"])
                costs.append(1000 * processor / load.sample)
    return median(ratios), median(costs)


def _prepare(site: Any, place: Path, sample: int = SAMPLE) -> Any:
    """A version of exactly the sampled tasks, and the same tasks as plain folders for the bare loop."""
    site.manage("owner", "migrate", "--no-input")
    import django

    django.setup()
    from benchmark import queries, services
    from benchmark.synthetic import generate
    from benchmark.taskdir import read_task, read_taskset
    from tests.factories import BY

    bank = place / "bank"
    generate(bank, version="bench", seed=SEED, size="full")
    held_out = sorted(entry.id for entry in read_taskset(bank).tasks if entry.group == "held_out")
    chosen = set(random.Random(SEED).sample(held_out, sample))
    for path in (bank / "tasks").iterdir():
        if path.name not in chosen:
            shutil.rmtree(path)
    _cut_manifest(bank / "taskset.toml", chosen)
    for name in sorted(chosen):
        _lay_out(read_task(bank / "tasks" / name), place / "bare" / name)
    shutil.copytree(HARNESS, place / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    version = services.import_directory(bank, by=BY)
    services.record_admission(version, digest_admitted=queries.content_digest(version), tasks=sample, by=BY)
    return services.freeze("bench", by=BY)


def _cut_manifest(path: Path, chosen: set[str]) -> None:
    head, *entries = path.read_text().split("[[tasks]]")
    kept = [entry for entry in entries if entry.split('id = "')[1].split('"')[0] in chosen]
    path.write_text("[[tasks]]".join([head, *kept]))


def _lay_out(task: Any, folder: Path) -> None:
    for name in ("turns", "scripts"):
        (folder / name).mkdir(parents=True)
    (folder / "instruction.md").write_bytes(task.instruction)
    for number, turn in enumerate(task.turns, start=2):
        (folder / f"turns/turn_{number:02}.md").write_bytes(turn)
    shutil.copy(task.workspace_file, folder / "workspace.tar.gz")
    (folder / "rules.json").write_bytes(task.rules_json)
    for name, data in task.scripts.items():
        (folder / "scripts" / Path(name).name).write_bytes(data)
    (folder / "budget.json").write_text(task.meta.budget.model_dump_json())


def _start(site: Any) -> None:
    from evaluation.models import WorkerReport

    for name in ("execute-1", "execute-2"):
        site.supervisor.start(site.processes.worker(name, role="execute", queues=["execute"]))
    site.supervisor.start(site.processes.worker("grade-1", role="sealed", queues=["grade"]))
    site.supervisor.start(site.processes.worker("office-1", role="sealed", queues=["governance"]))
    site.supervisor.start(site.processes.worker("post-1", role="web", queues=["web"]))
    site.supervisor.start(site.processes.beat())
    site.supervisor.start(site.processes.sequencer())
    assert site.supervisor.wait(60, lambda: WorkerReport.objects.count() == 3), site.supervisor.tail(
        "execute-1"
    )


def _bare(place: Path, harness: tuple[str, ...]) -> dict[str, Any]:
    command = [
        sys.executable,
        str(ROOT / "tests/benchmarks/bare_loop.py"),
        str(place / "bare"),
        str(place / "harness"),
        *harness,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _platform(
    site: Any, version: Any, command: tuple[str, ...] = COMMAND
) -> tuple[float, float, dict[str, str]]:
    """Seconds of the run, processor seconds of the platform's own processes, scores by task."""
    from config.ids import new_id
    from config.site.ci_job import bundle
    from evaluation import packages, services
    from evaluation.models import EvaluationRun, TaskResult
    from tests.factories import BY

    data = bundle(HARNESS, "0.3.1")
    path = site.state / "bench.tar.gz"
    path.write_bytes(data)
    package = packages.seal(path, digest=hashlib.sha256(data).hexdigest(), unpacked_size=len(data))
    before = _processor_seconds()
    run = services.create_run(
        kind=EvaluationRun.Kind.HELD_OUT,
        version=version,
        package=package,
        command=list(command),
        runs_per_task=1,
        lineage_id=new_id(),
        line_id=new_id(),
        by=BY,
    )

    def ended() -> bool:
        run.refresh_from_db(fields=["state", "ended_at"])
        return run.state == EvaluationRun.State.ENDED

    assert site.supervisor.wait(PATIENCE, ended), site.supervisor.tail("execute-1")
    spent = _processor_seconds() - before
    rows = TaskResult.objects.filter(episode__run=run).select_related("episode__task")
    scores = {row.episode.task.slug: str(row.score.normalize()) for row in rows}
    assert run.ended_at is not None
    return (run.ended_at - run.created_at).total_seconds(), spent, scores


def _processor_seconds() -> float:
    """User and system time of servers and workers below this process, ended children of PostgreSQL included."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            words = " ".join(process.cmdline())
            if not any(name in words for name in SERVERS) or "keeper" in words:
                continue
            times = process.cpu_times()
            total += times.user + times.system
            if "postgres" in words:
                total += times.children_user + times.children_system
        except psutil.NoSuchProcess:
            continue
    return total
