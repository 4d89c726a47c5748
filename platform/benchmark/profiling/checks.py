"""Whether tasks that come may stand for those that leave: means, a classifier, and what fixed harnesses score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from benchmark.profiling.covariates import Matrix, covariates, spreads
from benchmark.profiling.limits import SHIFT_BELOW, SMD_BELOW
from benchmark.profiling.matching import Pair
from benchmark.profiling.profile import Profile

CONFIDENCE_Z: Final = 1.959964
FOLDS: Final = 5
RIDGE: Final = 1.0
STEPS: Final = 25

Labels = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Telling:
    """How well a classifier tells the two groups apart: the area under its curve, with a 95 % interval."""

    area: float
    low: float
    high: float

    @property
    def cannot(self) -> bool:
        return self.low <= 0.5 <= self.high


@dataclass(frozen=True)
class Verdict:
    """What the checks found. `differences`: SMD by covariate. `shifts`: by domain, the largest move in points."""

    differences: Mapping[str, float]
    telling: Telling
    shifts: Mapping[str, float]

    @property
    def failed(self) -> list[str]:
        """The checks that do not hold, by name; empty where the replacement is accepted."""
        found = [f"smd:{name}" for name, value in self.differences.items() if abs(value) >= SMD_BELOW]
        found += [] if self.telling.cannot else ["classifier"]
        return found + [f"shift:{name}" for name, value in self.shifts.items() if abs(value) >= SHIFT_BELOW]

    @property
    def accepted(self) -> bool:
        return not self.failed


def judge(pairs: Sequence[Pair], shifts: Mapping[str, float]) -> Verdict:
    """All checks at once; `shifts` in points come from `shift` or from runs of the anchors on both versions."""
    leaving, coming = [pair.leaving for pair in pairs], [pair.coming for pair in pairs]
    return Verdict(differences(leaving, coming), told_apart(leaving, coming), dict(shifts))


def differences(leaving: Sequence[Profile], coming: Sequence[Profile]) -> dict[str, float]:
    """(mean of those that come − mean of those that leave) / pooled SD, by covariate and for each category."""
    names, values = covariates([*leaving, *coming])
    categories = sorted({(p.domain, p.category) for p in (*leaving, *coming)})
    shares = [[float((p.domain, p.category) == one) for one in categories] for p in (*leaving, *coming)]
    names += [f"{domain}/{category}" for domain, category in categories]
    values = np.hstack([values, np.array(shares)])
    ours, theirs = values[: len(leaving)], values[len(leaving) :]
    apart = theirs.mean(axis=0) - ours.mean(axis=0)
    pooled = np.sqrt((ours.var(axis=0, ddof=_freedom(ours)) + theirs.var(axis=0, ddof=_freedom(theirs))) / 2)
    # Two groups that are each constant and differ are as far apart as can be.
    found = np.where(pooled > 0, apart / np.where(pooled > 0, pooled, 1.0), np.where(apart == 0, 0.0, np.inf))
    return dict(zip(names, found.tolist(), strict=True))


def _freedom(values: Matrix) -> int:
    return 1 if len(values) > 1 else 0


def told_apart(leaving: Sequence[Profile], coming: Sequence[Profile]) -> Telling:
    """A two-sample classifier: ridge logistic regression on the covariates and their squares, cross-validated.

    Lopez-Paz and Oquab, "Revisiting classifier two-sample tests", ICLR 2017. A pair stays in one fold: else the
    partner in the training set, labelled the other way, would push the area below 0.5. The interval is DeLong's
    (Biometrics 44, 1988).
    """
    _, values = covariates([*leaving, *coming])
    scaled = (values - values.mean(axis=0)) / spreads(values)
    features = np.hstack([scaled, scaled**2])
    labels = np.repeat([0.0, 1.0], [len(leaving), len(coming)])
    fold = np.concatenate([np.arange(len(leaving)), np.arange(len(coming))]) % FOLDS
    scores = np.zeros(len(labels))
    for held in range(FOLDS):
        inside = fold != held
        if inside.all() or len(set(labels[inside].tolist())) < 2:
            continue
        scores[~inside] = _with_one(features[~inside]) @ _fitted(_with_one(features[inside]), labels[inside])
    return _area(scores[labels == 1], scores[labels == 0])


def _with_one(features: Matrix) -> Matrix:
    return np.hstack([np.ones((len(features), 1)), features])


def _fitted(features: Matrix, labels: Labels) -> Matrix:
    """Weights by Newton's method; the intercept is not penalised."""
    penalty = np.diag([0.0] + [RIDGE] * (features.shape[1] - 1))
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (labels - chance) - penalty @ weights
        curve = (features * (chance * (1 - chance))[:, None]).T @ features + penalty
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(weights)), slope)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def _area(higher: Matrix, lower: Matrix) -> Telling:
    """P(a score of the first exceeds one of the second), ties half, with DeLong's variance."""
    first, second = len(higher), len(lower)
    if first < 2 or second < 2:
        return Telling(0.5, 0.0, 1.0)
    together = rankdata(np.concatenate([higher, lower]))
    of_first = (together[:first] - rankdata(higher)) / second
    of_second = 1 - (together[first:] - rankdata(lower)) / first
    area = float(of_first.mean())
    half = CONFIDENCE_Z * sqrt(of_first.var(ddof=1) / first + of_second.var(ddof=1) / second)
    return Telling(area, max(0.0, area - half), min(1.0, area + half))


def shift(pairs: Sequence[Pair], scores: Mapping[str, float], sizes: Mapping[str, int]) -> dict[str, float]:
    """By domain, the points by which a harness moves that scores `scores` by task; `sizes` are held-out tasks."""
    moved = dict.fromkeys(sizes, 0.0)
    for pair in pairs:
        moved[pair.leaving.domain] += scores[pair.coming.key] - scores[pair.leaving.key]
    return {domain: 100 * moved[domain] / size for domain, size in sizes.items()}
