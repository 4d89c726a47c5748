"""Whether metadata explains which tasks changed: what separates a repair or an outage from a gate.

An honest cause follows domains, categories, operations, families or the order of execution. A gate that asks about
chosen tasks follows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from governance.detection.statistics import hypergeometric_tail
from governance.detection.tasks import Codes, Mask, TaskTable

EXPLAINED = 0.6
"""A changed set whose best F1 reaches this is explained."""
PER_GROUP = 3
"""A union may use one group for every three changed tasks, or many small families would explain anything."""
ENRICHED = 0.001
"""P of so many changed members by chance, over all groups of one kind together."""
COVERED = 0.3
"""A group of which this share changed, beyond chance, accounts for its own members."""


@dataclass(frozen=True)
class Explanation:
    """`score` is the best F1 over unions of groups; `left` are the changed tasks no group accounts for."""

    score: float
    by: str
    left: Mask

    @property
    def explained(self) -> bool:
        return self.score >= EXPLAINED


def explain(changed: Mask, comparable: Mask, table: TaskTable) -> Explanation:
    """Judge `changed`, a subset of the `comparable` tasks, against every grouping of the table."""
    changed = changed & comparable
    total = int(changed.sum())
    left = changed.copy()
    if not total:
        return Explanation(0.0, "", left)
    best, by = 0.0, ""
    population = int(comparable.sum())
    for grouping in table.groupings:
        hits = np.bincount(grouping.codes[changed], minlength=grouping.size)
        sizes = np.bincount(grouping.codes[comparable], minlength=grouping.size)
        score = union_f1(hits, sizes, total)
        if score > best:
            best, by = score, grouping.name
        candidates = np.flatnonzero((hits >= PER_GROUP) & (hits >= COVERED * sizes))
        if len(candidates):
            tail = hypergeometric_tail(hits[candidates], total, sizes[candidates], population)
            left &= ~np.isin(grouping.codes, candidates[tail * grouping.size < ENRICHED])
    score = _prefix_f1(changed, comparable, table)
    if score > best:
        best, by = score, "order"
    return Explanation(best, by, left)


def union_f1(hits: Codes, sizes: Codes, total: int) -> float:
    """Best F1 of a union of groups, taking the purest first; at most one group for three changed tasks."""
    some = np.flatnonzero(hits)
    purest = some[np.argsort(-(hits[some] / sizes[some]), kind="stable")][: max(1, total // PER_GROUP)]
    found = np.cumsum(hits[purest])
    taken = np.cumsum(sizes[purest])
    return float((2 * found / (taken + total)).max())


def _prefix_f1(changed: Mask, comparable: Mask, table: TaskTable) -> float:
    """Best F1 of a beginning or an end of the order: a run that died half-way, a tool that came back."""
    bins = table.order_bins
    hits = np.bincount(bins.codes[changed], minlength=bins.size)
    sizes = np.bincount(bins.codes[comparable], minlength=bins.size)
    total = int(changed.sum())
    best = 0.0
    for h, s in ((hits, sizes), (hits[::-1], sizes[::-1])):
        found, taken = np.cumsum(h), np.cumsum(s)
        # The whole bank is no explanation of a part of it.
        best = max(best, float((2 * found / (taken + total))[:-1].max()))
    return best
