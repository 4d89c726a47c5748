"""The near-duplicate gate: an answer that could be subtracted from an earlier one is not given.

Without it 70 exact queries of a deterministic harness read a domain of 286 tasks (governance, release policy).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Generic, TypeVar

from governance.disclosure.changes import TaskBehaviour, are_equal, changes

FEWEST_CHANGED = 20
"""From so many changed tasks on a domain counts as changed enough to have a value of its own."""

Key = TypeVar("Key")
Domains = Mapping[str, Mapping[str, TaskBehaviour]]
"""Behaviour by domain and task id."""


class Silence(StrEnum):
    """Why a domain has no value."""

    NO_VALID_RUN = "no_valid_run"
    REPEAT = "repeat"
    NEAR_DUPLICATE = "near_duplicate"
    LADDER = "ladder"
    BUDGET = "budget"


@dataclass(frozen=True)
class Known(Generic[Key]):
    """An earlier submission of the lineage to the same version: behaviour, noise and the domains that showed a value.

    `noise` is the variance of the domain's mean, in squared points, by domain; see `noise_of`.
    """

    key: Key
    behaviour: Domains
    noise: Mapping[str, Fraction]
    shown: frozenset[str]


@dataclass(frozen=True)
class Silenced(Generic[Key]):
    """A domain without a value, and the earlier submission that has one."""

    reason: Silence
    earlier: Key | None


def noise_of(tasks: Iterable[Sequence[Fraction]]) -> Fraction:
    """Run-to-run variance of a domain's mean, in squared points, from the scores (0 to 1) of each task's valid runs.

    Unbiased within tasks; a task with one run adds nothing, for it says nothing of its spread.
    """
    total, count = Fraction(0), 0
    for scores in tasks:
        count += 1
        if (n := len(scores)) > 1:
            mean = sum(scores, Fraction(0)) / n
            total += sum(((score - mean) ** 2 for score in scores), Fraction(0)) / (n - 1) / n
    return 10_000 * total / count**2 if count else Fraction(0)


def is_on(one: Fraction, other: Fraction, *, grid_points: int, runs_per_task: int) -> bool:
    """Whether the run-to-run error of the difference is below half a grid step; with one run per task it always is.

    A spread shows whether answers wander, not whether they are right: exchanging right and wrong leaves it as it is.
    """
    if runs_per_task == 1:
        return True
    return math.sqrt(one + other) < grid_points / 2


def silences(
    behaviour: Domains,
    noise: Mapping[str, Fraction],
    earlier: Sequence[Known[Key]],
    *,
    grid_points: int,
    runs_per_task: int,
    fewest_changed: int = FEWEST_CHANGED,
) -> dict[str, Silenced[Key]]:
    """The domains that get no value, because of whom. `earlier` in the order of their admission; the first that
    stands in the way is named.

    Only those earlier ones matter that showed a value: what was never answered cannot be subtracted from. A domain
    in which nothing changed has its old value again, which tells nothing new; one of which it cannot be told how
    much changed, because its answers vary though its scores do not, is closed as if little had.
    """
    for known in earlier:
        if known.shown and _is_repeat(behaviour, known):
            return {domain: Silenced(Silence.REPEAT, known.key) for domain in behaviour}
    found: dict[str, Silenced[Key]] = {}
    for domain, ours in behaviour.items():
        for known in earlier:
            if domain not in known.shown or domain not in known.behaviour:
                continue
            if not is_on(
                noise[domain], known.noise[domain], grid_points=grid_points, runs_per_task=runs_per_task
            ):
                continue
            if _is_near(ours, known.behaviour[domain], fewest_changed):
                found[domain] = Silenced(Silence.NEAR_DUPLICATE, known.key)
                break
    return found


def _is_repeat(behaviour: Domains, known: Known[Key]) -> bool:
    return behaviour.keys() == known.behaviour.keys() and all(
        are_equal(rows, known.behaviour[domain]) for domain, rows in behaviour.items()
    )


def _is_near(
    ours: Mapping[str, TaskBehaviour], theirs: Mapping[str, TaskBehaviour], fewest_changed: int
) -> bool:
    found = changes(theirs, ours)
    if len(found.changed) >= fewest_changed:
        return False
    return bool(found.changed or found.untold)
