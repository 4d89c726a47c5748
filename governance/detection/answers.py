"""Which tasks an answer could tell something about: those that changed since the line was last answered, by domain.

A domain without a value tells nothing, and what comes after it is compared with the last one that had a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from governance.detection.behaviour import Rows
from governance.detection.channels import subset
from governance.detection.contrasts import DENSE, Contrast, contrast, lasting
from governance.detection.tasks import Mask, TaskTable


@dataclass(frozen=True)
class Answered:
    """A run whose values were shown, in these domains; `rows` of the held-out tasks."""

    rows: Rows
    domains: frozenset[str]


@dataclass(frozen=True)
class Told:
    """Masks over the held-out tasks: the changed set, and what of it metadata does not explain."""

    changed: Mask
    asked: Mask


def told(new: Answered, earlier: Sequence[Answered], table: TaskTable) -> Told:
    """What `new` could tell to somebody who has the answers of its line, `earlier` in the order they were shown."""
    names = np.array([task.domain for task in table.tasks])
    alone = subset.judge(new.rows, table)
    changed, asked = np.zeros(len(table), dtype=bool), np.zeros(len(table), dtype=bool)
    found: dict[int, Contrast] = {}
    for domain in sorted(new.domains):
        here = names == domain
        place = next((at for at in reversed(range(len(earlier))) if domain in earlier[at].domains), None)
        if place is None:
            changed |= here
            asked |= here & alone.tasks
            continue
        if place not in found:
            history = np.stack([*(one.rows for one in earlier[: place + 1]), new.rows])
            found[place] = contrast(history[-2], history[-1], table, lasting(history["artefact"]))
        between = found[place]
        changed |= here if between.density >= DENSE else here & between.changed
        asked |= here & (alone.tasks if alone.excess > 0 else between.unexplained)
    return Told(changed, asked)
