"""What changed between two submissions of one lineage, task by task, and which of it looks like a gate.

There are two contrasts, and they stay two. `governance.disclosure.changes` decides whether a value is shown: the
offline verifier computes it again from the standard library alone, so it works on whole digests, has no arrays, and
must not change with a release of NumPy. This one has 8 bytes of each digest, medians as single floats and limits fitted
for power over a lineage; its verdicts are looked at by people and re-fitted, the gate's are promised by a policy row.
Where answers do not wander and cost the same both give the same set (tests/detection/test_answers.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from governance.detection.behaviour import ACTIVE, IDLE, Rows
from governance.detection.explanation import Explanation, explain
from governance.detection.statistics import robust_sd
from governance.detection.tasks import Mask, TaskTable

STANDARD = 5.0
"""A change of log tokens beyond so many standard deviations counts."""
LEAST_STEP = 0.6
"""… and at least so much: churn of a deterministic harness moves tokens by a few percent."""
SAME_WORK = 1e-6
DENSE = 0.3
"""From this share of changed artefacts on, an edit touches everything and single changes say little."""
ENOUGH = 12
"""Tasks from which a deviation can be estimated."""
SPARSE_RUNS = 3
"""Reversals need so many runs: with fewer one unlucky run is a reversal."""


@dataclass(frozen=True)
class Contrast:
    """Every mask has one entry for each held-out task."""

    comparable: Mask
    """Active in both, or idle in one of them: neither crashed."""
    deterministic: Mask
    changed_hash: Mask
    step: npt.NDArray[np.float64]
    """Change of log tokens less the common drift, in log units."""
    cheap: Mask
    dear: Mask
    failed: Mask
    recovered: Mask
    solved: Mask
    """Succeeded in most runs after."""
    same_work: Mask
    """Another artefact after exactly the same work: an answer that was altered afterwards."""
    woke: Mask
    """Idle in one and active in the other."""
    sampled: Mask
    """Tasks whose runs differ by chance."""
    limit: npt.NDArray[np.float64]
    """The step of log tokens beyond which a task counts as changed."""
    table: TaskTable

    @property
    def density(self) -> float:
        """Share of the deterministic tasks whose artefact changed."""
        return float(self.changed_hash.sum() / max(1, self.deterministic.sum()))

    @cached_property
    def gate(self) -> Mask:
        """Tasks that changed as a gate changes them: a failure at another price, an altered answer, a full reversal."""
        switched = (self.cheap & self.failed) | (self.dear & self.recovered)
        found = switched | self.same_work
        if self.density < DENSE:
            found = found | self.reversed
        return found & self.comparable

    @cached_property
    def reversed(self) -> Mask:
        """A changed artefact and full success become full failure, or the other way round."""
        return self._reversal & self.changed_hash

    _reversal: Mask

    @cached_property
    def explanation(self) -> Explanation:
        return explain(self.gate, self.comparable, self.table)

    @cached_property
    def accounted(self) -> Mask:
        """Tasks of groups that changed as groups: whatever a repair did to single ones of them is the repair's."""
        if self.density >= DENSE:
            return np.zeros_like(self.comparable)
        return self.changed & self.comparable & ~explain(self.changed, self.comparable, self.table).left

    @cached_property
    def unexplained(self) -> Mask:
        """The gate-like tasks that metadata does not account for."""
        if self.explanation.explained:
            return np.zeros_like(self.gate)
        return self.explanation.left & ~self.accounted

    @cached_property
    def changed(self) -> Mask:
        """Every task whose behaviour changed, for exposure."""
        jump = np.abs(self.step) > self.limit
        return self.changed_hash | (jump & self.comparable) | self.woke


def contrast(before: Rows, after: Rows, table: TaskTable, twice: Mask | None = None) -> Contrast:
    """Compare the held-out rows of two submissions of one harness line.

    With one run of each task nobody sees whether runs agree: then only the tasks of `twice`, whose artefact the line
    has left twice, are deterministic, and the price of the others says nothing.
    """
    alive = (before["activity"] != 1) & (after["activity"] != 1)
    both_active = (before["activity"] == ACTIVE) & (after["activity"] == ACTIVE)
    deterministic = alive & (before["artefact"] != 0) & (after["artefact"] != 0)
    single = min(int(before["runs"][0]), int(after["runs"][0])) == 1
    if single:
        deterministic &= False if twice is None else twice
    changed_hash = deterministic & (before["artefact"] != after["artefact"])
    raw = after["log_tokens"].astype(float) - before["log_tokens"].astype(float)
    drift = float(np.median(raw[both_active])) if both_active.any() else 0.0
    step = raw - drift
    # Each kind of task by its own noise: churn of a deterministic harness is a few percent, sampling far more.
    dense = changed_hash.sum() >= DENSE * deterministic.sum()
    limit = np.where(
        deterministic,
        _limit(step[changed_hash & both_active]) if dense else LEAST_STEP,
        _limit(step[both_active & ~deterministic]),  # where few are sampled nobody knows their noise
    )
    if single:
        limit = np.where(deterministic, limit, np.inf)
    none_before, none_after = before["successes"] == 0, after["successes"] == 0
    full_before = before["successes"] == before["runs"]
    full_after = after["successes"] == after["runs"]
    enough = int(before["runs"][0]) >= SPARSE_RUNS and int(after["runs"][0]) >= SPARSE_RUNS
    reversal = ((full_before & none_after) | (none_before & full_after)) & enough
    return Contrast(
        comparable=alive,
        deterministic=deterministic,
        changed_hash=changed_hash,
        step=step,
        cheap=step < -limit,
        dear=step > limit,
        failed=none_after,
        recovered=none_before,
        solved=3 * after["successes"] >= 2 * after["runs"],
        same_work=changed_hash & (np.abs(raw) < SAME_WORK) & (before["log_tokens"] > 0) & both_active,
        woke=((before["activity"] == IDLE) != (after["activity"] == IDLE)) & alive,
        sampled=alive & ~deterministic,
        limit=limit,
        table=table,
        _reversal=reversal,
    )


def lasting(artefacts: npt.NDArray[np.uint64]) -> Mask:
    """Tasks of which two submissions of a line left the same artefact; a row for each submission."""
    ordered = np.sort(artefacts, axis=0)
    return np.asarray(((ordered[1:] == ordered[:-1]) & (ordered[1:] != 0)).any(axis=0))


def _limit(steps: npt.NDArray[np.float64]) -> float:
    """Five robust standard deviations of these steps, and never less than the least step; without end for too few."""
    if len(steps) < ENOUGH:
        return float("inf")
    return max(LEAST_STEP, STANDARD * robust_sd(steps))
