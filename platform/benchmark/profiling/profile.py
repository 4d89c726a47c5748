"""The difficulty profile of a task: what fixed baselines score on it, with what its author says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

TIERS: Final[Mapping[str, int]] = {"basic": 1, "intermediate": 2, "hard": 3}
"""Difficulty as the author names it, in steps."""


@dataclass(frozen=True)
class Profile:
    """One task. `scores`: by baseline, the mean score in [0, 1] over its runs; every task has the same baselines."""

    key: str
    domain: str
    category: str
    operation: str
    tier: int
    turns: int
    seconds: int
    scores: Mapping[str, float]

    @property
    def stratum(self) -> tuple[str, str, str, int]:
        """Domain × scenario category × operation type × difficulty tier."""
        return self.domain, self.category, self.operation, self.tier


def baselines_of(profiles: Sequence[Profile]) -> list[str]:
    """The baselines that all of these were measured by. Raises ValueError where tasks differ in them."""
    found = {frozenset(profile.scores) for profile in profiles}
    if len(found) > 1:
        raise ValueError("tasks were profiled by different baselines")
    return sorted(next(iter(found), frozenset()))
