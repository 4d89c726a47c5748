"""A made-up bank: sizes, groups and difficulties in the proportions of a real one, from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from governance.detection.tasks import Task, TaskTable

DOMAINS = {
    "general": (478, 10, 22),
    "finance": (286, 6, 14),
    "supply_chain": (286, 6, 14),
    "manufacturing": (286, 6, 15),
}
"""Held-out tasks, categories and public tasks of each domain."""
OPERATIONS = ("query", "document", "analysis", "operation")
PER_FAMILY = 2.2


@dataclass(frozen=True)
class Bank:
    """A table with what its tasks ask of a harness: hardness in log-odds and usual log tokens."""

    table: TaskTable
    hardness: npt.NDArray[np.float64]
    price: npt.NDArray[np.float64]


def make(seed: int, scale: float = 1.0) -> Bank:
    """Held-out tasks first. `scale` multiplies the number of tasks."""
    rng = np.random.default_rng([seed, 1])
    rows: list[Task] = []
    for public in (False, True):
        for number, (domain, (held_out, categories, shown)) in enumerate(DOMAINS.items()):
            size = max(8, round((shown if public else held_out) * scale))
            rows.extend(_domain(rng, domain, (number, size, categories), public=public))
    order = rng.permutation(len(rows))
    tasks = [
        Task(
            f"T-{place:04d}", t.domain, t.category, t.operation, t.tier, t.family, int(order[place]), t.public
        )
        for place, t in enumerate(rows)
    ]
    tiers = np.array([task.tier for task in tasks])
    hardness = 0.9 * (tiers - 1) + rng.normal(0, 0.9, len(tasks))
    price = 10.0 + 0.35 * (tiers - 1) + rng.normal(0, 0.5, len(tasks))
    return Bank(TaskTable(tasks), hardness, price)


def of_table(table: TaskTable, seed: int) -> Bank:
    """The difficulties of a known bank are not known: drawn by tier."""
    rng = np.random.default_rng([seed, 2])
    tiers = np.array([task.tier for task in table.tasks])
    hardness = 0.9 * (tiers - 1) + rng.normal(0, 0.9, len(tiers))
    return Bank(table, hardness, 10.0 + 0.35 * (tiers - 1) + rng.normal(0, 0.5, len(tiers)))


def _domain(
    rng: np.random.Generator, domain: str, shape: tuple[int, int, int], *, public: bool
) -> list[Task]:
    """`shape`: the domain's number, its tasks, its categories."""
    number, size, categories = shape
    families = max(1, round(size / PER_FAMILY))
    category_of = rng.integers(0, categories, families)
    found = []
    for family in rng.integers(0, families, size):
        found.append(
            Task(
                id="",
                domain=domain,
                category=str(100 * number + int(category_of[family])),
                operation=str(rng.choice(OPERATIONS)),
                tier=int(rng.choice(3, p=(0.34, 0.38, 0.28))),
                family=1000 * number + int(family),
                order=0,
                public=public,
            )
        )
    return found
