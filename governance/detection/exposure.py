"""How much each held-out task has told: bits by every cause, and bits by sets that metadata does not explain.

A release of a domain is worth at most 6.66 bits (log2 of 101 shown values); it is shared by the tasks whose behaviour
changed, and no task can give more than one bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from governance.detection.tasks import Mask, TaskTable

RELEASE_BITS = 6.66
ALL_WEIGHT = 0.25
ALARM_FACTOR = 4.0
SUSPECTED = 0.5
"""Half a gate's: most such tasks failed by chance."""
MEMORISED = 3.0
"""The mark for a task that a lineage in alarm seems to know by heart."""

Bits = npt.NDArray[np.float64]


def shares(changed: Mask, domains: npt.NDArray[np.int64]) -> Bits:
    """min(1, 6.66/|S_d|) for each task of the changed set of its domain d, 0 elsewhere."""
    sizes = np.bincount(domains[changed], minlength=int(domains.max()) + 1)
    bits = np.minimum(1.0, RELEASE_BITS / np.maximum(1, sizes))
    return np.where(changed, bits[domains], 0.0)


@dataclass
class Exposure:
    """Both columns, and the part of the second that lineages in alarm have to answer for."""

    table: TaskTable
    every: Bits = field(init=False)
    gate: dict[str, Bits] = field(default_factory=dict)
    suspected: dict[str, Bits] = field(default_factory=dict)
    memorised: dict[str, Mask] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.every = np.zeros(len(self.table))

    def release(self, lineage: str, changed: Mask, unexplained: Mask) -> None:
        """One submission's values are shown."""
        self.every += shares(changed, self.table.domains)
        if unexplained.any():
            bits = self.gate.setdefault(lineage, np.zeros(len(self.table)))
            bits += shares(unexplained, self.table.domains)

    def remember(self, lineage: str, tasks: Mask) -> None:
        """Tasks that were solved as from memory."""
        known = self.memorised.setdefault(lineage, np.zeros(len(self.table), dtype=bool))
        known |= tasks

    def suspect(self, lineage: str, tasks: Mask) -> None:
        """Tasks that were failed for once and right about little, where an edit touched little."""
        if tasks.any():
            bits = self.suspected.setdefault(lineage, np.zeros(len(self.table)))
            bits += shares(tasks, self.table.domains)

    def gate_like(self) -> Bits:
        """Bits by sets that metadata does not explain, over all lineages."""
        return sum(self.gate.values(), np.zeros(len(self.table)))

    def score(self, alarmed: set[str]) -> Bits:
        """0.25·(all − gate) + gate, gate four times for lineages in alarm, and the marks and suspicions of those."""
        gate = self.gate_like()
        score = ALL_WEIGHT * np.maximum(0.0, self.every - gate) + gate
        for lineage in sorted(alarmed):
            if lineage in self.gate:
                score += (ALARM_FACTOR - 1) * self.gate[lineage]
            if lineage in self.suspected:
                score += SUSPECTED * self.suspected[lineage]
            if lineage in self.memorised:
                score += MEMORISED * self.memorised[lineage]
        return score
