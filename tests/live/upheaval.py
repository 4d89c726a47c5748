"""A site of its own for tests that break it: servers, workers, kills by a seeded plan, and what is left afterwards.

Run as a program (`python -m tests.live.upheaval EPISODES KILLS SEED`) it prints one line of JSON. It needs servers
that nobody else uses, and so a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg

from config.processes import ROOT, Processes
from embedded.services import Services
from embedded.supervisor import Supervisor

BANK_SEED = 20261101
WORKERS = ("execute-1", "execute-2", "grade-1")
SERVERS = ("postgresql", "redis")
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "config.settings.test",
    "LINGEE_LEASE_SECONDS": "6",
    "LINGEE_TICK_SECONDS": "1",
    "LINGEE_EPISODE_RETRIES": "9",
}
PATIENCE = 900.0
GONE_SECONDS = 10.0
"""What was orphaned by a kill ends by itself within this."""
GAP_SECONDS = (1.0, 4.0)
"""Between two kills."""


@contextmanager
def site(folder: Path) -> Iterator[tuple[Services, Supervisor, Processes]]:
    """Servers up and migrated; this process may use the object mapper from then on."""
    state = folder / "state"
    with (
        Services(state, what="upheaval") as services,
        Supervisor(state / "log", heal=services.heal) as children,
    ):
        processes = Processes(services.connection(), state, SETTINGS)
        command, environment = processes.command("migrate", "--no-input", role="owner")
        subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)
        os.environ.update(processes.environment("test"))
        import django

        django.setup()
        yield services, children, processes


def bank(folder: Path) -> Any:
    """The mini bank, imported and frozen."""
    from benchmark.synthetic import generate
    from tests.live.conftest import import_bank

    generate(folder / "bank", version="2026.1-mini", seed=BANK_SEED, size="mini")
    return import_bank(folder / "bank")


def patiently(step: Callable[[], Any]) -> Any:
    """What `step` gives once the database answers; None where it does not just now."""
    from django.db import InterfaceError, OperationalError, connection

    try:
        return step()
    except (OperationalError, InterfaceError):
        connection.close()
        return None


class Kills:
    """A seeded plan of kills, one due after the other."""

    def __init__(self, services: Services, children: Supervisor, *, count: int, seed: int) -> None:
        self._services, self._children = services, children
        chooser = random.Random(seed)
        # Each server at least once, if there are so many; workers in all the other places.
        names = [*SERVERS, *(chooser.choice(WORKERS) for _ in range(max(count - len(SERVERS), 0)))][:count]
        chooser.shuffle(names)
        self.plan = [(name, chooser.uniform(*GAP_SECONDS)) for name in names]
        self.done: list[str] = []
        self._due = time.monotonic() + GAP_SECONDS[1]

    def __call__(self) -> None:
        """Kill what is due; call it often."""
        if not self.plan or time.monotonic() < self._due:
            return
        name, gap = self.plan[0]
        number = self._services.server(name).pid if name in SERVERS else self._children.pid(name)
        if number is None:
            return
        os.kill(number, signal.SIGKILL)
        self.plan.pop(0)
        self.done.append(name)
        self._due = time.monotonic() + gap


def results(run: Any) -> dict[str, list[Any]]:
    """All that counts of a run, by task and run index, down to the digest of what was answered."""
    from evaluation.models import TaskResult

    rows = TaskResult.objects.filter(episode__run=run).select_related("episode__task", "attempt")
    return {
        f"{row.episode.task.slug} {row.episode.run_index}": [
            *(str(row.score), row.success, row.failure_type, row.ending, row.items),
            row.attempt.answer_sha256,
        ]
        for row in rows
    }


def cut(fleet: Any, episodes: int, **more: Any) -> Any:
    """A run of exactly so many episodes, the same ones each time."""
    from django.db import transaction

    from evaluation.models import Episode

    held_out = fleet.version.tasks.filter(group="held_out").count()
    with transaction.atomic():
        run = fleet.submit("rule-script", runs_per_task=-(-episodes // held_out), **more)
        rows = Episode.objects.filter(run=run).order_by("run_index", "task__slug")
        beyond = list(rows.values_list("pk", flat=True)[episodes:])
        Episode.objects.filter(pk__in=beyond).update(state=Episode.State.CANCELLED)
    return run


def ledger(run: Any, events_url: str) -> dict[str, int]:
    """What is wrong with the attempts of a run, as counts: all 0 where the ledger is complete."""
    from evaluation.models import Attempt, Episode

    wrong = {"gaps": 0, "open": 0, "results": 0, "causes": 0}
    for episode in Episode.objects.filter(run=run).exclude(state="cancelled").prefetch_related("tries"):
        tries = sorted(episode.tries.all(), key=lambda attempt: attempt.number)
        wrong["gaps"] += [attempt.number for attempt in tries] != list(range(1, len(tries) + 1))
        wrong["open"] += any(attempt.ended_at is None for attempt in tries)
        valid = [attempt for attempt in tries if attempt.ending != "infrastructure_fault"]
        wrong["results"] += len(valid) != 1 or valid[0].pk != episode.result.attempt_id
        wrong["causes"] += any(not attempt.cause for attempt in tries if attempt not in valid)
    with psycopg.connect(events_url) as auditor:
        found = auditor.execute("SELECT subject_id FROM audit_event WHERE kind = 'attempt.ended'").fetchall()
    ended = Attempt.objects.filter(episode__run=run).exclude(ended_at=None).values_list("pk", flat=True)
    told = sorted(subject for (subject,) in found if subject in {str(pk) for pk in ended})
    wrong["without_event"] = int(told != sorted(str(pk) for pk in ended))
    return wrong


def left(folder: Path, groups: set[str]) -> dict[str, list[str]]:
    """Whatever outlived the site: each list is to be empty."""
    word = str(folder)
    until = time.monotonic() + GONE_SECONDS
    while (processes := _processes(word)) and time.monotonic() < until:
        time.sleep(0.2)
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if word in line]
    state = folder / "state"
    sockets = [str(path) for path in folder.rglob("*") if path.is_socket()]
    work = [str(path) for path in (state / "work").glob("*")]
    temporary = [path.name for path in (folder / "tmp").iterdir()]
    return {
        "processes": processes,
        "mounts": mounts,
        "sockets": sockets,
        "work": work,
        "temporary": temporary,
        "groups": sorted(control_groups() - groups),
    }


def _processes(word: str) -> list[str]:
    """Others that have the word in their command line or environment."""
    found = []
    for process in psutil.process_iter():
        try:
            words = " ".join((*process.cmdline(), *process.environ().values()))
            # Python's own, of the pool that drew the bank in this very process.
            own = process.pid == os.getpid() or "resource_tracker" in words
            if word in words and not own:
                found.append(f"{process.pid} {process.name()} {' '.join(process.cmdline())[-80:]}")
        except psutil.Error:
            continue
    return found


def control_groups() -> set[str]:
    """Directories of control groups below this process's own, in each hierarchy."""
    from evaluation.sandbox.cgroups import _own_places

    found = set()
    for version in (1, 2):
        for _, place in _own_places(version=version):
            found |= {str(path) for path in place.glob("*/") if path.is_dir()}
    return found


def upheaval(folder: Path, episodes: int, kills: int, seed: int) -> dict[str, Any]:
    """A disturbed run and an undisturbed one of the same seeds, compared; and what is left of both."""
    (folder / "tmp").mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
    groups = control_groups()
    with site(folder) as (services, children, processes):
        from evaluation.models import Attempt
        from tests.live.fleet import Fleet

        fleet = Fleet(processes, children, bank(folder), "")
        fleet.start()
        fleet.finish(fleet.submit("rule-script", kind="canary", sample=1))
        plan = Kills(services, children, count=kills, seed=seed)
        disturbed = cut(fleet, episodes)
        began = time.monotonic()
        assert children.wait(PATIENCE, lambda: _ended(disturbed, plan)), patiently(
            lambda: fleet.trouble(disturbed)
        )
        seconds = time.monotonic() - began
        undisturbed = cut(fleet, episodes)
        assert children.wait(PATIENCE, lambda: _ended(undisturbed, lambda: None)), fleet.trouble(undisturbed)
        events = processes.environment("auditor")["DATABASE_URL"]
        first, second = results(disturbed), results(undisturbed)
        report = {
            "episodes": episodes,
            "killed": plan.done,
            "pending": len(plan.plan),
            "seconds": round(seconds, 1),
            "missing": [disturbed.missing, undisturbed.missing],
            "results": len(first),
            "same": first == second,
            "faults": Attempt.objects.filter(episode__run=disturbed, ending="infrastructure_fault").count(),
            "ledger": {"disturbed": ledger(disturbed, events), "undisturbed": ledger(undisturbed, events)},
        }
    return {**report, "left": left(folder, groups)}


def _ended(run: Any, meanwhile: Callable[[], object]) -> bool:
    meanwhile()
    patiently(run.refresh_from_db)
    return bool(run.state == "ended")


def main() -> None:
    episodes, kills, seed = (int(word) for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix="lgu-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        print(json.dumps(upheaval(folder, episodes, kills, seed)))


if __name__ == "__main__":
    main()
