"""Whether vendors' pass rate on a task drifted: a risk-adjusted CUSUM of odds, as an e-process. Pure.

Steiner, Cook, Farewell and Treasure, "Monitoring surgical performance using risk-adjusted cumulative sum charts",
Biostatistics 1 (2000) 441: each observation is weighed by the chance that *this* submission had on *this* task, so
that stronger vendors raise no alarm. For odds multiplied by R, an observation y in [0, 1] of expectation p multiplies
by R^y / (1 − p + R·p), of mean at most 1 while p is right, since R^y ≤ 1 − y + R·y. So M ← max(1, M)·factor reaches
a level L by chance at most once in L observations on average.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

ODDS = 6.0
"""The change that the chart is tuned to, upwards (a leak) and downwards (a broken tool)."""
PRIOR_SD = 1.5
"""Of a task's ease around its domain's, in logits, before anything was seen of it."""
NEWTON_STEPS = 6
FEWEST = 8
"""Submissions seen before the chart begins: before that a task's ease is mostly prior."""
MARGIN = 0.02
"""Chances are kept so far from 0 and 1."""


def level(tasks: int, submissions: int, false_alarms: float = 0.5) -> float:
    """The level at which both charts of so many tasks together alarm by chance `false_alarms` times at most."""
    return 2 * max(1, tasks) * max(1, submissions - FEWEST) / false_alarms


def drifted(passes: Array, domains: npt.NDArray[np.int64]) -> Array:
    """For each task the highest value that either chart reached.

    `passes`: submission × task in order of time, the share of runs that succeeded, NaN where nothing is known. One
    row for each vendor, its first: later ones of the same vendor are no new evidence. `domains`: of each task.
    """
    submissions, tasks = passes.shape
    highest, up, down = np.ones(tasks), np.ones(tasks), np.ones(tasks)
    abilities = _abilities(passes, domains)
    for at in range(FEWEST, submissions):
        known = ~np.isnan(passes[at])
        chance = _expected(passes[:at], abilities[:at], abilities[at])
        seen = np.where(known, passes[at], 0.0)
        up = np.where(known, np.maximum(1.0, up) * _factor(seen, chance, ODDS), up)
        down = np.where(known, np.maximum(1.0, down) * _factor(seen, chance, 1 / ODDS), down)
        highest = np.maximum(highest, np.maximum(up, down))
    return highest


def _factor(seen: Array, chance: Array, odds: float) -> Array:
    found: Array = odds**seen / (1 - chance + odds * chance)
    return found


def _abilities(passes: Array, domains: npt.NDArray[np.int64]) -> Array:
    """Submission × task: the logit of the submission's pass rate in the task's domain."""
    found = np.zeros(passes.shape)
    for domain in np.unique(domains):
        own = domains == domain
        part = passes[:, own]
        count = (~np.isnan(part)).sum(axis=1)
        rate = (np.nansum(part, axis=1) + 0.5) / (count + 1)
        found[:, own] = np.log(rate / (1 - rate))[:, None]
    return found


def _expected(seen: Array, abilities: Array, now: Array) -> Array:
    """Each task's chance for a submission of ability `now`, its ease estimated from what was seen before."""
    known = ~np.isnan(seen)
    filled = np.where(known, seen, 0.0)
    ease = np.zeros(seen.shape[1])
    for _ in range(NEWTON_STEPS):
        chance = _chance(abilities + ease)
        slope = np.where(known, filled - chance, 0.0).sum(axis=0) - ease / PRIOR_SD**2
        curve = np.where(known, chance * (1 - chance), 0.0).sum(axis=0) + 1 / PRIOR_SD**2
        ease = np.clip(ease + slope / curve, -6.0, 6.0)
    return np.clip(_chance(now + ease), MARGIN, 1 - MARGIN)


def _chance(logit: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-logit))
    return found
