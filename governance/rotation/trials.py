"""Baselines tried on tasks: the harness as a process of this machine, its answer graded by the rule channel here.

For harnesses of the platform's own people only: there is no sandbox around them, which is what makes 1,400 tasks times
several runs affordable. What vendors send never comes near this. Arrays of scores come out; nothing is stored.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NoReturn

from benchmark.profiling.variants import degraded, degraded_reply
from benchmark.taskdir import unpack, write_files
from evaluation.grader.batch import Job, grade_one, spread
from scoring.run import score_run

PATH = "in_process"
"""How these runs came about, as the record says it."""
ENTRY = "run.py"
TIMEOUT_SECONDS = 60
WORKSPACE = "environment/workspace.tar.gz"
RULES = "rules.json"
SCRIPTS = "tests/grading/"


class TrialFailed(Exception):
    """A task could not be graded; the message names it."""


@dataclass(frozen=True)
class Baseline:
    """A harness folder with a `run.py`; `share` of the values in what it leaves is made wrong, 0 for none."""

    name: str
    folder: Path
    share: float = 0.0

    @property
    def label(self) -> str:
        return f"{self.name}@{round(self.share * 100)}" if self.share else self.name


@dataclass(frozen=True)
class Subject:
    """A task's files by name, as its packs hold them: statement, turns, workspace and derived rules."""

    key: str
    files: Mapping[str, bytes]
    turns: int = 1


@dataclass(frozen=True)
class Trial:
    """All baselines on one task. `seed` is any text; the same seed gives the same scores."""

    subject: Subject
    baselines: tuple[Baseline, ...]
    runs: int
    seed: str


@dataclass(frozen=True)
class Tried:
    """Scores in [0, 1] by the baseline's label, one for each run."""

    key: str
    scores: Mapping[str, tuple[float, ...]]


def parsed(text: str) -> Baseline:
    """`FOLDER` or `FOLDER@PERCENT`. Raises ValueError where there is no `run.py`, or for a share outside 1 to 99."""
    folder, _, share = text.partition("@")
    place = Path(folder)
    if not (place / ENTRY).is_file():
        raise ValueError(f"{folder} holds no {ENTRY}")
    if share and not (share.isdecimal() and 1 <= int(share) <= 99):
        raise ValueError(f"{text}: the share is a whole number of percent from 1 to 99")
    return Baseline(place.resolve().name, place.resolve(), int(share or 0) / 100)


def digest_of(baseline: Baseline) -> str:
    """SHA-256 over the harness's files by name, and the share of wrong values."""
    found = hashlib.sha256(f"{baseline.share:.4f}\n".encode())
    for path in sorted(baseline.folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(baseline.folder).as_posix()
            found.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def try_all(trials: Sequence[Trial], *, processes: int) -> list[Tried]:
    """Each trial, in the order given. Raises TrialFailed for a task that cannot be graded."""
    return spread(try_one, trials, processes=processes)


def try_one(trial: Trial) -> Tried:
    """A harness runs once for each run; its degraded variants take what it left, each with errors of its own."""
    beneath = unpack(trial.subject.files[WORKSPACE])
    scores: dict[str, tuple[float, ...]] = {}
    left: dict[tuple[Path, int], tuple[dict[str, bytes], bytes | None]] = {}
    for baseline in trial.baselines:
        found = []
        for run in range(trial.runs):
            place = (baseline.folder, run)
            if place not in left:
                left[place] = _run(
                    baseline, trial.subject, beneath, _number(trial.seed, trial.subject.key, run)
                )
            files, reply = left[place]
            if baseline.share:
                rng = Random(_number(trial.seed, trial.subject.key, baseline.label, run))  # noqa: S311
                files = degraded(files, baseline.share, rng)
                reply = degraded_reply(reply, baseline.share, rng)
            found.append(_graded(trial.subject, files, reply, beneath))
        scores[baseline.label] = tuple(found)
    return Tried(trial.subject.key, scores)


def _number(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:6], "big")


def _run(
    baseline: Baseline, subject: Subject, beneath: Mapping[str, bytes], seed: int
) -> tuple[dict[str, bytes], bytes | None]:
    """What it wrote or changed, and its reply. A harness that crashes or takes too long leaves what is there."""
    with tempfile.TemporaryDirectory(prefix="trial-") as place:
        root = Path(place)
        for name in ("task/turns", "workspace", "reply", "home"):
            (root / name).mkdir(parents=True)
        write_files(root / "workspace", beneath)
        write_files(root / "task", {"instruction.md": subject.files["instruction.md"]})
        for turn in range(1, subject.turns + 1):
            if turn > 1:
                name = f"turns/turn_{turn}.md"
                write_files(root / "task", {name: subject.files[name]})
            _turn(baseline, root, seed, turn, subject.turns)
        files = {
            path.relative_to(root / "workspace").as_posix(): path.read_bytes()
            for path in sorted((root / "workspace").rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        reply = root / "reply/reply.md"
        said = reply.read_bytes() if reply.is_file() else None
    return {name: data for name, data in files.items() if beneath.get(name) != data}, said


def _turn(baseline: Baseline, root: Path, seed: int, turn: int, turns: int) -> None:
    """One start of the harness in a forked child: an interpreter of its own would cost ten times as much."""
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "LANG": "C.UTF-8",
        "HOME": str(root / "home"),
        "TASK_DIR": str(root / "task"),
        "WORKSPACE_DIR": str(root / "workspace"),
        "REPLY_FILE": str(root / "reply/reply.md"),
        "HARNESS_DIR": str(baseline.folder),
        "EPISODE_SEED": str(seed),
        "TURN": str(turn),
        "TURNS": str(turns),
    }
    child = os.fork()
    if child == 0:
        _become(baseline.folder, root / "workspace", environment)
    os.waitpid(child, 0)


def _become(folder: Path, workspace: Path, environment: Mapping[str, str]) -> NoReturn:
    """In the child: be the harness, silently, and end without anything of the parent's being closed or flushed."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TIMEOUT_SECONDS)
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        sys.stdin, sys.stdout, sys.stderr = (open(os.devnull, mode) for mode in ("r", "w", "w"))  # noqa: PTH123, SIM115
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(workspace)
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(folder))
        sys.argv = [str(folder / ENTRY)]
        runpy.run_path(str(folder / ENTRY), run_name="__main__")
    finally:
        os._exit(0)


def _graded(
    subject: Subject, files: Mapping[str, bytes], reply: bytes | None, beneath: Mapping[str, bytes]
) -> float:
    with tempfile.TemporaryDirectory(prefix="answer-") as place:
        write_files(Path(place), files)
        scripts = {
            name.removeprefix("tests/"): data
            for name, data in subject.files.items()
            if name.startswith(SCRIPTS) and name.endswith(".py")
        }
        found = grade_one(Job(subject.key, subject.files[RULES], Path(place), reply, scripts, beneath))
    if found.outcome is None:
        raise TrialFailed(f"{subject.key}: {found.fault}")
    return float(score_run(found.outcome).score)
