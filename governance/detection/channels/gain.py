"""The gain of a submission over its predecessor against what runs of one harness vary by: a look, never an accusation.

A z above 3 fires for every honest change of model.
"""

from __future__ import annotations

import numpy as np

from governance.detection.behaviour import Rows

NAME = "gain"
BEYOND = 3.0
"""Outside the band of noise: worth a look at what was declared."""


def difference(before: Rows, after: Rows) -> tuple[float, float]:
    """Difference of mean success, and the standard error of that from the spread between tasks."""
    change = after["successes"] / np.maximum(1, after["runs"]) - before["successes"] / np.maximum(
        1, before["runs"]
    )
    return float(change.mean()), float(change.std(ddof=1) / np.sqrt(len(change)))


def z(before: Rows, after: Rows) -> float:
    """Difference of mean success over its error; 0 where nothing varies."""
    mean, error = difference(before, after)
    return mean / error if error > 0 else 0.0
