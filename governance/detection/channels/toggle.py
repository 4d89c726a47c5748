"""A third behaviour that sits on earlier ones, task by task: routing gates and wacky boosting.

An honest return goes back to one earlier submission. A router mixes several.
"""

from __future__ import annotations

import numpy as np

from governance.detection.behaviour import Rows
from governance.detection.contrasts import Contrast
from governance.detection.explanation import explain
from governance.detection.findings import Finding, nothing
from governance.detection.statistics import poisson_tail
from governance.detection.tasks import Mask

NAME = "toggle"
MATERIAL_STEP = 0.3
"""Flaky builds return to an artefact too, but it costs and succeeds as before within a few percent."""
MATERIAL_SUCCESS = 0.6
EXPECTED = (0.3, 0.08)
"""Material returns to expect: so many, and so many for each changed artefact of a task whose artefacts last."""
ONE_SOURCE = 0.9
"""A share of the returning tasks that one earlier submission alone accounts for: a rollback."""


def judge(found: Contrast, history: Rows) -> Finding:
    """`history` are the rows of all submissions of the line, oldest first; the last two are the contrast's own."""
    size = len(found.comparable)
    if len(history) < 3:
        return nothing(NAME, size)
    now, before = history[-1], history[-2]
    same = (history["artefact"][:-2] == now["artefact"]) & (now["artefact"] != 0)
    returned = found.changed_hash & same.any(axis=0)
    if not returned.any():
        return nothing(NAME, size)
    rate = np.abs(
        now["successes"] / np.maximum(1, now["runs"]) - before["successes"] / np.maximum(1, before["runs"])
    )
    material = (np.abs(found.step) > MATERIAL_STEP) | (rate > MATERIAL_SUCCESS)
    if _is_rollback(found, same):
        return nothing(NAME, size)
    judged = explain(returned & material, found.comparable, found.table)
    left = np.zeros(size, dtype=bool) if judged.explained else judged.left & ~found.accounted
    count = int(left.sum())
    lasting = found.changed_hash & (
        returned | (history["artefact"][1:-1] == history["artefact"][:-2]).any(axis=0)
    )
    p = poisson_tail(count, EXPECTED[0] + EXPECTED[1] * int(lasting.sum()))
    return Finding(NAME, p, left, count, judged.score)


def _is_rollback(found: Contrast, same: Mask) -> bool:
    """Whether nearly everything that changed is now as in one earlier submission."""
    changed = found.changed_hash
    return bool((same & changed).sum(axis=1).max() >= ONE_SOURCE * changed.sum()) and changed.sum() > 20
