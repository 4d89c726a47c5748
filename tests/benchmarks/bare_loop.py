"""The least that runs and grades tasks: a loop over folders, two at a time. What the platform is measured against.

`python bare_loop.py TASKS HARNESS COMMAND…` prints {"seconds": …, "scores": {task: score}}. Each folder below TASKS
holds
instruction.md, turns/, workspace.tar.gz, rules.json, scripts/ and budget.json.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from evaluation.grader.reward import decode
from evaluation.sandbox.backends import default_backend
from evaluation.sandbox.spec import GradeSpec, Limits, RunSpec

AT_A_TIME = 2


def one(task: Path, harness: Path, command: tuple[str, ...]) -> tuple[str, str]:
    """Run and grade one task; returns its name and score."""
    budget = json.loads((task / "budget.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        outcome = default_backend().run_episode(
            RunSpec(
                opaque_id=task.name,
                command=command,
                harness_dir=harness,
                instruction=(task / "instruction.md").read_bytes(),
                turns=tuple(path.read_bytes() for path in sorted((task / "turns").glob("*.md"))),
                workspace_tar=(task / "workspace.tar.gz").read_bytes(),
                seed=1,
                budget_seconds=budget["seconds"],
                budget_steps=budget["steps"],
                budget_tokens=budget["tokens"],
                limits=Limits(seconds=budget["seconds"]),
            ),
            Path(folder),
        )
        assert outcome.snapshot is not None
        scripts = {f"grading/{path.name}": path.read_bytes() for path in (task / "scripts").glob("*.py")}
        rules = (task / "rules.json").read_bytes()
        graded = default_backend().run_grader(
            GradeSpec(rules_json=rules, snapshot=outcome.snapshot, reply=outcome.reply, scripts=scripts)
        )
        assert graded.reward is not None, (task.name, graded.fault, graded.stderr)
    return task.name, str(decode(graded.reward).score)


def main() -> None:
    tasks, harness, command = sorted(Path(sys.argv[1]).iterdir()), Path(sys.argv[2]), tuple(sys.argv[3:])
    default_backend().keeper()
    started = time.monotonic()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        scores = dict(pool.map(lambda task: one(task, harness, command), tasks))
    print(json.dumps({"seconds": time.monotonic() - started, "scores": scores}))


if __name__ == "__main__":
    main()
