"""What a channel hands back: how surprising, on which tasks, with what evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from governance.detection.statistics import surprise
from governance.detection.tasks import Mask

LARGEST_EXCESS = 3.0
"""What one finding adds at most to the sum of its lineage: a thousandth beyond the first factor of ten."""


@dataclass(frozen=True)
class Finding:
    """`p` is the chance of so much under the channel's honest model; `tasks` are what it rests on."""

    channel: str
    p: float
    tasks: Mask
    count: int
    explanation: float = 0.0

    @property
    def excess(self) -> float:
        """Orders of magnitude beyond 1 in 10, at most three."""
        return float(np.clip(surprise(self.p) - 1.0, 0.0, LARGEST_EXCESS))


def nothing(channel: str, tasks: int) -> Finding:
    """A channel that has nothing to say."""
    return Finding(channel, 1.0, np.zeros(tasks, dtype=bool), 0)
