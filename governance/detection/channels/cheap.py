"""Tasks solved from one submission to the next at a far lower price, unexplained: answers that were brought along."""

from __future__ import annotations

from governance.detection.contrasts import Contrast
from governance.detection.explanation import explain
from governance.detection.findings import Finding, nothing
from governance.detection.statistics import poisson_tail

NAME = "cheap"
EXPECTED = (0.5, 0.0012)
"""Cheap solutions to expect of an honest edit: so many, and so many for each task that is sampled."""


def judge(found: Contrast) -> Finding:
    """Solved after in most runs, beyond the step that this edit makes usual; what was cheap and failed is a gate's."""
    rows = found.solved & found.cheap & found.comparable & ~found.woke & ~found.accounted
    judged = explain(rows, found.comparable, found.table)
    if judged.explained or not rows.any():
        return nothing(NAME, len(rows))
    count = int(judged.left.sum())
    sampled = int(found.sampled.sum())
    p = poisson_tail(count, EXPECTED[0] + EXPECTED[1] * sampled)
    return Finding(NAME, p, judged.left, count, judged.score)
