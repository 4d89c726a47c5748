"""What an answer can carry at most, in thousandths of a bit: whole numbers, so that sums are exact."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

GRID_LEVELS = 101
"""Values on the grid of one point."""
DOMAINS = 4


def millibits(levels: Iterable[int]) -> int:
    """Capacity of figures with so many possible values each: 1000·Σ log2 L, rounded up. Raises ValueError for L < 1."""
    product = 1
    for count in levels:
        if count < 1:
            raise ValueError("a figure has at least one value")
        product *= count
    if product == 1:
        return 0
    return math.ceil(1000 * math.log2(product) - 1e-6)


def of_result(values: int, *, bounds: int = 0, ladder: int = 0) -> int:
    """What a result charges: each domain value shown, and twice as much for each one with bounds.

    `ladder` domains stood under the growing ladder, shown or not: its silence says that a value was not much better,
    which is one more answer beside the values, and a charge for values alone would depend on correctness. The
    enterprise value is computed from shown ones and costs nothing; every other silence is decided without labels and
    does neither.
    """
    if min(values, bounds, ladder) < 0:
        raise ValueError("counts are not negative")
    return millibits([GRID_LEVELS] * (values + 2 * bounds) + [GRID_LEVELS + 1] * ladder)


ONE_RESULT = of_result(DOMAINS)
"""Four scores on the 1-point grid: 26.6 bits."""
ONE_LADDER_RESULT = of_result(0, ladder=DOMAINS)
"""Four scores or silences under the growing ladder: 26.7 bits."""


def capacity(*, lineage_quota: int, confirmation: int, result: int = ONE_RESULT) -> int:
    """Of a version per lineage: quota × one result + as many confirmations with their side figures."""
    return lineage_quota * (result + confirmation)


def budget(live_tasks: int, millibits_per_task: int = 1000) -> int:
    """What a version lets one lineage be told over its life: by default one bit per live task."""
    return live_tasks * millibits_per_task


@dataclass(frozen=True, slots=True)
class Balance:
    """A lineage's account for one version, in millibits. Corrections may overdraw it; nothing else does."""

    budget: int
    spent: int
    result: int = ONE_RESULT
    """What one more result costs at most."""

    @property
    def left(self) -> int:
        return max(0, self.budget - self.spent)

    def covers(self, charge: int) -> bool:
        return self.spent + charge <= self.budget
