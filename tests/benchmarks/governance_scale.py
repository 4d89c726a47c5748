"""governance:6: the whole analysis of ten thousand submissions from the behaviour store, and one more."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from governance.detection import levels, report
from governance.detection.analysis import Analysis
from governance.detection.streams import Recorded
from governance.detection.synthetic.worlds import World, world
from tests.benchmarks.registry import Bar, bars

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS, HELD_OUT = 10_000, 1_335
FULL, ONE_MORE, GIGABYTES = 180.0, 2.0, 4.0
VENDORS, ATTACKERS = 54, 7
SEED = 20261130


@bars.measure("governance:6")
def governance_scale() -> list[Bar]:
    """In a process of its own, whose peak of memory is the analysis's alone. Seconds are of CPU."""
    command = [sys.executable, "-m", "tests.benchmarks.governance_scale"]
    environment = {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return [
        Bar("full", figure=found["full"], at_most=FULL, unit="s"),
        Bar("one_more", figure=found["one_more"], at_most=ONE_MORE, unit="s"),
        Bar("memory", figure=found["gigabytes"], at_most=GIGABYTES, unit="GB"),
    ]


def submissions(made: World) -> Iterator[Recorded]:
    """The made-up world again and again under other names; artefacts differ, so that no two copies are one vendor."""
    rng = np.random.default_rng(SEED)
    left = SUBMISSIONS
    while left:
        salt = np.uint64(rng.integers(1, 2**47))
        copy = int(rng.integers(2**31))
        for one in made.submissions[:left]:
            rows = one.rows.copy()
            rows["artefact"] = np.where(rows["artefact"] > 0, rows["artefact"] ^ salt, 0)
            rows["log_tokens"] += rng.normal(0, 0.1, len(rows))
            yield replace(
                one,
                id=f"{copy}-{one.id}",
                account=f"{copy}-{one.account}",
                organisation=f"{copy}-{one.organisation}",
                digest=f"{copy}-{one.digest}",
                base_model=f"model-{copy % 8}",
                rows=rows,
            )
        left -= min(left, len(made.submissions))


def measure() -> dict[str, float]:
    """Seconds of CPU for all but the last submission with the report, and for the last."""
    made = world(SEED, honest=VENDORS, attackers=ATTACKERS)
    assert int(made.table.held_out.sum()) >= HELD_OUT
    analysis = Analysis(made.table, levels.read())
    spent, last = 0.0, 0.0
    for one in submissions(made):
        began = time.process_time()
        analysis.observe(one)
        last = time.process_time() - began
        spent += last
    began = time.process_time()
    report.make(analysis)
    spent += time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"full": spent, "one_more": last, "gigabytes": peak, "submissions": len(analysis.store)}


if __name__ == "__main__":
    print(json.dumps(measure()))
