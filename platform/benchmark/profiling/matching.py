"""Replacements for tasks that leave: the assignment with the least total distance, within each domain.

Distance: Euclidean over the covariates in units of their standard deviation, and a step for each label that differs.
Rosenbaum, "Optimal matching for observational studies", JASA 84 (1989): one assignment for all, not one after the
other. Then single exchanges bring the means of the two groups together, as the acceptance checks ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmark.profiling.covariates import Matrix, covariates, spreads
from benchmark.profiling.profile import Profile

CATEGORY_STEP: Final = 3.0
OPERATION_STEP: Final = 1.0
"""In standard deviations: another scenario is worse than three of them in one covariate."""
CLOSE: Final = 0.05
"""Standardised mean difference at which exchanges stop, half of what is accepted."""
EXCHANGES: Final = 200


class TooFew(ValueError):
    """A domain's reserve holds fewer tasks than leave it."""

    def __init__(self, domain: str, needed: int, there: int) -> None:
        super().__init__(f"{domain}: {needed} tasks leave and the reserve holds {there}")
        self.domain, self.needed, self.there = domain, needed, there


@dataclass(frozen=True)
class Pair:
    """A task that leaves, the one that comes for it, and how far apart they are, in standard deviations."""

    leaving: Profile
    coming: Profile
    distance: float


def match(leaving: Sequence[Profile], reserve: Sequence[Profile]) -> list[Pair]:
    """A replacement of the same domain for each, no task twice. Raises TooFew.

    The same tasks in any order give the same pairs.
    """
    leaving, reserve = sorted(leaving, key=_key), sorted(reserve, key=_key)
    if not leaving:
        return []
    distances = distances_between(leaving, reserve)
    chosen = np.full(len(leaving), -1)
    for domain in sorted({profile.domain for profile in leaving}):
        rows = [n for n, profile in enumerate(leaving) if profile.domain == domain]
        columns = [n for n, profile in enumerate(reserve) if profile.domain == domain]
        if len(columns) < len(rows):
            raise TooFew(domain, len(rows), len(columns))
        found, taken = linear_sum_assignment(distances[np.ix_(rows, columns)])
        chosen[np.array(rows)[found]] = np.array(columns)[taken]
    chosen = _evened(leaving, reserve, chosen, distances)
    return [
        Pair(task, reserve[at], round(float(distances[n, at]), 6))
        for n, (task, at) in enumerate(zip(leaving, chosen.tolist(), strict=True))
    ]


def _key(profile: Profile) -> str:
    return profile.key


def distances_between(leaving: Sequence[Profile], reserve: Sequence[Profile]) -> Matrix:
    """Task × candidate, in standard deviations of both together; labels that differ count as steps."""
    _, values = covariates([*leaving, *reserve])
    scaled = values / spreads(values)
    ours, theirs = scaled[: len(leaving)], scaled[len(leaving) :]
    apart: Matrix = np.sqrt(((ours[:, None, :] - theirs[None, :, :]) ** 2).sum(axis=2))
    for step, label in ((CATEGORY_STEP, "category"), (OPERATION_STEP, "operation")):
        here = np.array([getattr(profile, label) for profile in leaving])
        there = np.array([getattr(profile, label) for profile in reserve])
        apart += step * (here[:, None] != there[None, :])
    return apart


def _evened(
    leaving: Sequence[Profile], reserve: Sequence[Profile], chosen: np.ndarray, distances: Matrix
) -> np.ndarray:
    """Exchange one replacement at a time for a free task of its domain and category while the worst mean improves."""
    _, values = covariates([*leaving, *reserve])
    scaled = values / spreads(values[: len(leaving)])
    target, pool = scaled[: len(leaving)].mean(axis=0), scaled[len(leaving) :]
    labels = [(profile.domain, profile.category) for profile in reserve]
    chosen, free = chosen.copy(), set(range(len(reserve))) - set(chosen.tolist())
    for _ in range(EXCHANGES):
        gap = pool[chosen].mean(axis=0) - target
        worst = float(np.abs(gap).max())
        if worst <= CLOSE:
            break
        best = _best_exchange(chosen, free, pool, gap, labels)
        if best is None or best[0] >= worst - 1e-9:
            break
        _, place, comes = best
        free = (free - {comes}) | {int(chosen[place])}
        chosen[place] = comes
    return chosen


def _best_exchange(
    chosen: np.ndarray, free: set[int], pool: Matrix, gap: Matrix, labels: Sequence[tuple[str, str]]
) -> tuple[float, int, int] | None:
    """The worst gap that is left, the place, and who comes there."""
    found: tuple[float, int, int] | None = None
    waiting = sorted(free)
    for place, goes in enumerate(chosen.tolist()):
        fits = [n for n in waiting if labels[n] == labels[goes]]
        if not fits:
            continue
        after = np.abs(gap + (pool[fits] - pool[goes]) / len(chosen)).max(axis=1)
        at = int(after.argmin())
        if found is None or after[at] < found[0]:
            found = (float(after[at]), place, fits[at])
    return found
