"""The gain of a submission over its predecessor against what runs of one harness vary by: a look, never an accusation.

A z above 3 fires for every honest change of model.
"""

from __future__ import annotations

import numpy as np

from governance.detection.behaviour import Rows

NAME = "gain"
BEYOND = 3.0
"""Outside the band of noise: worth a look at what was declared."""


def z(before: Rows, after: Rows) -> float:
    """Difference of mean success over the error of that difference, from the spread between tasks."""
    difference = after["successes"] / np.maximum(1, after["runs"]) - before["successes"] / np.maximum(
        1, before["runs"]
    )
    error = float(difference.std(ddof=1)) / np.sqrt(len(difference))
    return float(difference.mean()) / error if error > 0 else 0.0
