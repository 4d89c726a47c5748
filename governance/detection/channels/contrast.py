"""Small changes that metadata does not explain: a gate that fails, or answers otherwise, on chosen tasks."""

from __future__ import annotations

from governance.detection.contrasts import DENSE, Contrast
from governance.detection.findings import Finding
from governance.detection.statistics import poisson_tail

NAME = "contrast"
SWITCHED = (0.2, 0.0012)
"""Failures at another price to expect of an honest edit: so many, and so many for each task that is sampled."""
REVERSED = (0.3, 0.08)
"""Full reversals to expect: so many, and so many for each changed artefact of a sparse edit."""
ALTERED = (0.05, 0.002)
"""Altered answers after the same work: by chance two artefacts cost the same to the token once in hundreds."""


def judge(found: Contrast) -> Finding:
    """The least of three Poisson tails, times three."""
    left = found.unexplained
    changed = int(found.changed_hash.sum())
    switched = left & ((found.cheap & found.failed) | (found.dear & found.recovered))
    altered = left & found.same_work & ~switched
    sampled = int(found.sampled.sum())
    tails = [
        poisson_tail(int(switched.sum()), SWITCHED[0] + SWITCHED[1] * sampled),
        poisson_tail(int(altered.sum()), ALTERED[0] + ALTERED[1] * changed),
    ]
    if found.density < DENSE:
        turned = left & found.reversed
        tails.append(poisson_tail(int(turned.sum()), REVERSED[0] + REVERSED[1] * changed))
    p = min(1.0, 3 * min(tails))
    return Finding(NAME, p, left, int(left.sum()), found.explanation.score)
