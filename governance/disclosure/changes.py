"""Which tasks of a domain two submissions behave differently on: by what was left and what it cost, never by whether
it was right. So whatever is decided from it carries no label of a task.

The detectors have a contrast of their own over arrays; why there are two stands in `governance.detection.contrasts`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

TOKENS_APART = 5.0
"""Standardised change of log tokens beyond which a task's cost has changed."""
LEAST_SCALE = 0.02
"""Two per cent: below it a spread is none, and every change of a deterministic harness would count as a large one."""
NORMAL = 1.4826
"""Median absolute deviation to standard deviation."""


@dataclass(frozen=True, slots=True)
class RunBehaviour:
    """One valid run: digest of what it left (empty where unknown), whether that is anything, tokens where metered."""

    answer: str
    is_active: bool
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TaskBehaviour:
    """A task over its valid runs. `answer` is what more than half of them left, None where no answer is."""

    answer: str | None
    is_active: bool
    log_tokens: float | None


@dataclass(frozen=True, slots=True)
class Changes:
    """Tasks whose behaviour changed, and those of which that cannot be told, because their answers vary anyway.

    `compared` counts those that both submissions have.
    """

    changed: frozenset[str]
    untold: frozenset[str]
    compared: int


def behaviour(runs: Sequence[RunBehaviour]) -> TaskBehaviour | None:
    """A task from its valid runs; None without one."""
    if not runs:
        return None
    answer, times = Counter(run.answer for run in runs).most_common(1)[0]
    is_known = answer and 2 * times > len(runs)
    tokens = [math.log1p(run.tokens) for run in runs if run.tokens is not None]
    return TaskBehaviour(
        answer=answer if is_known else None,
        is_active=2 * sum(run.is_active for run in runs) > len(runs),
        log_tokens=median(tokens) if tokens else None,
    )


def changes(one: Mapping[str, TaskBehaviour], other: Mapping[str, TaskBehaviour]) -> Changes:
    """The contrast of two submissions, by task id.

    A task of which only one of them has a valid run has changed: it stands in one mean and not in the other, so the
    two values could be subtracted to read it.
    """
    both = one.keys() & other.keys()
    costlier = _costs(one, other, both)
    changed, untold = one.keys() ^ other.keys(), set()
    for task in both:
        a, b = one[task], other[task]
        if a.is_active != b.is_active or task in costlier:
            changed.add(task)
        elif a.answer is None or b.answer is None:
            untold.add(task)
        elif a.answer != b.answer:
            changed.add(task)
    return Changes(frozenset(changed), frozenset(untold), len(both))


def are_equal(one: Mapping[str, TaskBehaviour], other: Mapping[str, TaskBehaviour]) -> bool:
    """Whether every task was answered alike: the same package in effect, whatever its digest."""
    return one.keys() == other.keys() and all(
        row.answer is not None and row.answer == other[task].answer for task, row in one.items()
    )


def _costs(one: Mapping[str, TaskBehaviour], other: Mapping[str, TaskBehaviour], both: set[str]) -> set[str]:
    """Tasks whose tokens moved further than the drift that all have in common explains."""
    moves = {}
    for task in both:
        before, after = one[task].log_tokens, other[task].log_tokens
        if before is not None and after is not None:
            moves[task] = after - before
    if not moves:
        return set()
    drift = median(moves.values())
    scale = max(NORMAL * median(abs(move - drift) for move in moves.values()), LEAST_SCALE)
    return {task for task, move in moves.items() if abs(move - drift) > TOKENS_APART * scale}
