"""Run a sample harness over task directories without a sandbox, and grade what it leaves.

For tests of the task bank only: same inputs and outputs as the contract has, none of its isolation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

from benchmark.taskdir import read_task, unpack
from evaluation.grader.batch import Job, grade_answer

HARNESSES = Path(__file__).resolve().parents[2] / "harnesses"


def run(harness: str, task_dir: Path, *, seed: int = 1) -> Decimal:
    """The task score of one run of `harness` (a folder of tests/harnesses)."""
    scripts = HARNESSES / harness
    task = read_task(task_dir)
    with tempfile.TemporaryDirectory(prefix="solve-") as folder:
        root = Path(folder)
        workspace, shown, reply = root / "workspace", root / "task", root / "reply.md"
        for name, content in unpack(task.workspace_file.read_bytes()).items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_bytes(content)
        shown.mkdir()
        (root / "home").mkdir()
        shutil.copy(task_dir / "instruction.md", shown)
        for turn in range(1, task.meta.turns + 1):
            if turn > 1:
                (shown / "turns").mkdir(exist_ok=True)
                shutil.copy(task_dir / "turns" / f"turn_{turn}.md", shown / "turns")
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": str(root / "home"),
                "TASK_DIR": str(shown),
                "WORKSPACE_DIR": str(workspace),
                "HARNESS_DIR": str(scripts),
                "REPLY_FILE": str(reply),
                "EPISODE_SEED": str(seed),
                "TURN": str(turn),
                "TURNS": str(task.meta.turns),
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            command = [sys.executable, "-S", str(scripts / "run.py")]
            subprocess.run(
                command, cwd=workspace, env=environment, check=False, timeout=30, capture_output=True
            )
        told = reply.read_bytes() if reply.is_file() else None
        return grade_answer(task.ruleset, Job(task.meta.id, b"", workspace, told, task.scripts)).score


def run_all(harness: str, task_dirs: Iterable[Path], *, seed: int = 1) -> dict[Path, Decimal]:
    """Task scores by task directory, two runs at a time."""
    chosen = list(task_dirs)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(chosen, pool.map(lambda d: run(harness, d, seed=seed), chosen), strict=True))


def by_domain(harness: str, task_dirs: Iterable[Path], *, seed: int = 1) -> dict[str, Decimal]:
    """Mean task score by domain."""
    scores: dict[str, list[Decimal]] = defaultdict(list)
    for task_dir, score in run_all(harness, task_dirs, seed=seed).items():
        scores[read_task(task_dir).meta.domain].append(score)
    return {domain: sum(found, Decimal(0)) / len(found) for domain, found in scores.items()}


def unsolved(harness: str, task_dirs: Iterable[Path]) -> dict[str, Decimal]:
    """Score by name of every task that is not solved in full."""
    return {d.name: score for d, score in run_all(harness, task_dirs).items() if score != 1}
