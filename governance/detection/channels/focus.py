"""Failures that were spoilt rather than missed, under edits that touch everything.

A harness that fails honestly is often partly right, and its failures have their own price: it tries longer than where
it succeeds. A harness that spoils a finished answer pays for a success and is right about little. Tasks solved before
and after and failed here are compared, in both respects, with the lineage's own other failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from governance.detection.behaviour import ACTIVE, NO_FAILURE, Rows
from governance.detection.explanation import explain
from governance.detection.statistics import all_fail
from governance.detection.tasks import Mask, TaskTable

NAME = "focus"
FEWEST = 10
"""Dips of a lineage from which a mean says something."""
FEWEST_PRICES = 15
WORTHLESS = 0.3
SOLVED = 2 / 3
PRIOR = (0.5, 0.5)
PRIOR_GATE = 0.05
"""Weight of a dip: this against its forecast as an honest failure. A task that the line nearly always solves counts."""
LARGEST_STEP = 0.6
"""Beyond it a failure or a solution is cheap or dear for another reason, and other channels look at it."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """Dips of one submission whose runs agree, or do not, with what they are compared with.

    Prices are log tokens of a failure less those of the solution of the same task next to it.
    """

    ranks: Values
    """Of the dips' partial credit among ordinary failures of the kind, 0 (worst) to 1."""
    prices: Values
    weights: Values
    ordinary: Values
    """Prices of falls and rises that stayed."""


@dataclass(frozen=True)
class Spoilt:
    """The dips of one submission."""

    tasks: Mask
    agreed: Mask
    kinds: tuple[Kind, Kind]

    def worthless(self) -> Mask:
        """The dips that were right about less than most ordinary failures."""
        found = np.zeros_like(self.tasks)
        for kind, mask in zip(self.kinds, (self.agreed, ~self.agreed), strict=True):
            places = np.flatnonzero(self.tasks & mask)
            if len(kind.ranks) == len(places):
                found[places[kind.ranks <= WORTHLESS]] = True
        return found


def dips(history: Rows, table: TaskTable) -> Spoilt:
    """Of the submission before the last: tasks mostly solved before and after, and failed here in every run."""
    before, here, after = history[-3], history[-2], history[-1]
    usable = (before["activity"] == ACTIVE) & (here["activity"] == ACTIVE) & (after["activity"] == ACTIVE)
    failed = usable & (here["successes"] == 0) & (here["partial"] != NO_FAILURE)
    then, later = _solved(before), _solved(after)
    judged = explain(failed & then & later, usable, table)
    left = np.zeros_like(failed) if judged.explained else judged.left
    down, up = _step(before, here, usable), _step(after, here, usable)
    price = np.where(then & later, (down + up) / 2, np.where(then, down, up))
    usual = np.abs(price) < LARGEST_STEP
    left = left & usual
    stayed = failed & (then ^ later) & usual
    weight = PRIOR_GATE / (PRIOR_GATE + _forecast(history))
    agreed = here["artefact"] != 0

    def of_kind(kind: Mask) -> Kind:
        dip = left & kind
        ranks = _ranks(here["partial"][dip], here["partial"][failed & ~left & kind])
        return Kind(ranks, price[dip], weight[dip], price[stayed & kind])

    return Spoilt(left, agreed, (of_kind(agreed), of_kind(~agreed)))


def tail(spoilt: Sequence[Spoilt]) -> float:
    """P(dips so worthless, or so cheap) if they were failures like others: twice that of the better normal score."""
    if sum(int(one.tasks.sum()) for one in spoilt) < FEWEST:
        return 1.0
    found = [_credit_score(spoilt), _price_score(spoilt)]
    scores = [score for score in found if score is not None]
    return min(1.0, len(scores) * float(stats.norm.sf(max(scores)))) if scores else 1.0


def _solved(rows: Rows) -> Mask:
    return np.asarray(rows["successes"] >= SOLVED * rows["runs"] - 1e-9)


def _step(other: Rows, here: Rows, usable: Mask) -> Values:
    """Log tokens here less there, without the common drift."""
    step = here["log_tokens"].astype(float) - other["log_tokens"]
    return np.asarray(step - (np.median(step[usable]) if usable.any() else 0.0))


def _forecast(history: Rows) -> Values:
    """P(no run of a task succeeds), by the line's other submissions."""
    others = np.delete(history, -2, axis=0)
    solved, seen = others["successes"].sum(axis=0), others["runs"].sum(axis=0, dtype=int)
    return all_fail(solved, seen, int(history["runs"][-2][0]), PRIOR)


def _credit_score(spoilt: Sequence[Spoilt]) -> float | None:
    """How low the weighted mean rank is, in the standard errors of uniform ranks."""
    kinds = [kind for one in spoilt for kind in one.kinds if len(kind.ranks)]
    if not kinds:
        return None
    ranks, weights = (
        np.concatenate([getattr(kind, name) for kind in kinds]) for name in ("ranks", "weights")
    )
    return float((weights * (0.5 - ranks)).sum() / np.sqrt((weights**2).sum() / 12))


def _price_score(spoilt: Sequence[Spoilt]) -> float | None:
    """How much cheaper dips are than ordinary failures, in standard errors; kinds count by their dips."""
    total, count = 0.0, 0.0
    for kinds in zip(*(one.kinds for one in spoilt), strict=True):
        mine, weights, others = (
            np.concatenate([getattr(kind, name) for kind in kinds])
            for name in ("prices", "weights", "ordinary")
        )
        if len(mine) < FEWEST_PRICES or len(others) < FEWEST_PRICES:
            continue
        effective = float(weights.sum() ** 2 / (weights**2).sum())
        # A dip's price is the mean of two steps and varies less than the others; the larger spread is taken for both.
        error = max(mine.std(ddof=1), others.std(ddof=1)) * np.sqrt(1 / effective + 1 / len(others))
        if error > 0:
            total += np.sqrt(effective) * (others.mean() - np.average(mine, weights=weights)) / error
            count += effective
    return total / float(np.sqrt(count)) if count else None


def _ranks(mine: npt.NDArray[np.uint16], others: npt.NDArray[np.uint16]) -> Values:
    """Mid-ranks among the others; nothing where there are none."""
    if not len(others):
        return np.zeros(0)
    ordered = np.sort(others)
    low, high = np.searchsorted(ordered, mine, "left"), np.searchsorted(ordered, mine, "right")
    return np.asarray((low + high) / (2 * len(ordered)))
