"""The tasks of a bank as arrays, and the metadata groups that may explain which of them changed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

PREFIX_STEPS = 20
"""Prefixes and suffixes of the execution order are tried at every twentieth of it."""


@dataclass(frozen=True)
class Task:
    """What is known about one task before anybody runs it."""

    id: str
    domain: str
    category: str
    operation: str
    tier: int
    family: int
    order: int
    public: bool


@dataclass(frozen=True)
class Grouping:
    """One way to divide the tasks: `codes` names the group of each, 0 to `size` − 1."""

    name: str
    codes: Codes
    size: int


class TaskTable:
    """Tasks in a fixed order; every array of behaviour has one row per task in this order."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tuple(tasks)
        self.ids = [task.id for task in tasks]
        self.public: Mask = np.array([task.public for task in tasks], dtype=bool)
        self.held_out: Mask = ~self.public
        self.domains: Codes = _codes([task.domain for task in tasks])[0]
        self.tiers: Codes = _codes([task.tier for task in tasks])[0]
        self.operations: Codes = _codes([task.operation for task in tasks])[0]

    def __len__(self) -> int:
        return len(self.tasks)

    @cached_property
    def held_out_table(self) -> TaskTable:
        """The same without public tasks."""
        return TaskTable([task for task in self.tasks if not task.public])

    @cached_property
    def groupings(self) -> tuple[Grouping, ...]:
        """Domain, category, operation, tier, family and their plain crossings: what honest causes follow."""
        single: dict[str, list[Any]] = {
            "domain": [(task.domain,) for task in self.tasks],
            "category": [(task.domain, task.category) for task in self.tasks],
            "operation": [(task.operation,) for task in self.tasks],
            "tier": [(task.tier,) for task in self.tasks],
            "family": [(task.domain, task.family) for task in self.tasks],
            "category and operation": [(task.domain, task.category, task.operation) for task in self.tasks],
            "domain and operation": [(task.domain, task.operation) for task in self.tasks],
            "domain and tier": [(task.domain, task.tier) for task in self.tasks],
        }
        found = []
        for name, values in single.items():
            codes, size = _codes(values)
            found.append(Grouping(name, codes, size))
        return tuple(found)

    @cached_property
    def order_bins(self) -> Grouping:
        """Twentieths of the execution order, so that cumulative sums are prefixes."""
        order = np.argsort(np.argsort([task.order for task in self.tasks]))
        return Grouping("order", order * PREFIX_STEPS // max(1, len(self.tasks)), PREFIX_STEPS)


def _codes(values: Sequence[Any]) -> tuple[Codes, int]:
    """Small integers for the values, by first appearance in sorted order of their text."""
    names = {value: number for number, value in enumerate(sorted(set(values), key=str))}
    return np.array([names[value] for value in values], dtype=np.int64), len(names)
