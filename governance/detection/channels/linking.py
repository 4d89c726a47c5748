"""Which organisations act as one: joining is not blaming, an alarm needs a behaviour of its own.

Every link names its ground. It is compared by the latest submission of each organisation.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from governance.detection.behaviour import ACTIVE, IDLE, Rows

EQUAL_ARTEFACTS = 20
"""So many different equal artefacts, each on its own task."""
CORRELATION = 0.88
"""Of residual log tokens, at one declared model."""
FEWEST = 100
"""Tasks active in both, below which a correlation says nothing."""
USUAL_OF = 8
"""Organisations from which the usual price of a task is taken."""


@dataclass(frozen=True)
class Link:
    """Two organisations and what joins them."""

    one: str
    other: str
    ground: str
    strength: float


class Linker:
    """The latest submission of every organisation, compared with each new one."""

    def __init__(self, tasks: int) -> None:
        self._tasks = tasks
        self._names: list[str] = []
        self._place: dict[str, int] = {}
        self._artefacts = np.zeros((16, tasks), dtype=np.uint64)
        self._prices = np.zeros((16, tasks), dtype=np.float32)
        self._active = np.zeros((16, tasks), dtype=bool)
        self._models: list[str] = []
        self._sum = np.zeros(tasks)
        self._count = np.zeros(tasks, dtype=np.int64)
        self._digests: defaultdict[str, set[str]] = defaultdict(set)
        self._templates: defaultdict[int, set[str]] = defaultdict(set)
        self.links: dict[tuple[str, str], Link] = {}

    def observe(self, organisation: str, digest: str, model: str, rows: Rows) -> list[Link]:
        """Take an organisation's new submission; the links that are new."""
        others = len(self._names) - (organisation in self._place)
        found = self._by_name(organisation, digest, rows)
        if others:
            found += self._by_content(organisation, model, rows)
        self._keep(organisation, model, rows)
        new = []
        for other, ground, strength in found:
            pair = (min(organisation, other), max(organisation, other))
            if other != organisation and pair not in self.links:
                self.links[pair] = Link(*pair, ground, strength)
                new.append(self.links[pair])
        return new

    def _by_name(self, organisation: str, digest: str, rows: Rows) -> list[tuple[str, str, float]]:
        """Exactly the same package, or the same template for idle tasks."""
        found = [(other, "digest", 1.0) for other in sorted(self._digests[digest])]
        self._digests[digest].add(organisation)
        for value in np.unique(rows["artefact"][rows["activity"] == IDLE]):
            same = self._templates[int(value)]
            found += [(other, "template", 1.0) for other in sorted(same)]
            same.add(organisation)
        return found

    def _by_content(self, organisation: str, model: str, rows: Rows) -> list[tuple[str, str, float]]:
        """Equal artefacts, or prices that rise and fall together."""
        known = len(self._names)
        active = rows["activity"] == ACTIVE
        equal = (self._artefacts[:known] == rows["artefact"]) & (rows["artefact"] != 0) & active
        found = []
        for place in map(int, np.flatnonzero(equal.sum(axis=1) >= EQUAL_ARTEFACTS)):
            count = len(np.unique(rows["artefact"][equal[place]]))
            if count >= EQUAL_ARTEFACTS:
                found.append((self._names[place], "artefacts", float(count)))
        if known < USUAL_OF:
            return found
        usual = self._sum / np.maximum(1, self._count)
        mine = rows["log_tokens"] - usual
        for place in range(known):
            both = active & self._active[place]
            if self._models[place] != model or self._names[place] == organisation or both.sum() < FEWEST:
                continue
            together = _correlation(mine[both], (self._prices[place] - usual)[both])
            if together > CORRELATION:
                found.append((self._names[place], "tokens", together))
        return found

    def _keep(self, organisation: str, model: str, rows: Rows) -> None:
        place = self._place.setdefault(organisation, len(self._names))
        if place == len(self._names):
            self._names.append(organisation)
            self._models.append(model)
            if place == len(self._artefacts):
                self._artefacts = np.concatenate([self._artefacts, np.zeros_like(self._artefacts)])
                self._prices = np.concatenate([self._prices, np.zeros_like(self._prices)])
                self._active = np.concatenate([self._active, np.zeros_like(self._active)])
        active = (rows["activity"] == ACTIVE) & (rows["log_tokens"] > 0)
        self._models[place] = model
        # Running sums of the prices over the organisations that answer a task.
        self._sum += rows["log_tokens"] * active - self._prices[place] * self._active[place]
        self._count += active.astype(int) - self._active[place]
        self._artefacts[place] = np.where(active, rows["artefact"], np.uint64(0))
        self._prices[place] = rows["log_tokens"]
        self._active[place] = active


def _correlation(one: npt.NDArray[np.floating], other: npt.NDArray[np.floating]) -> float:
    one, other = one - one.mean(), other - other.mean()
    norm = float(np.sqrt((one * one).sum() * (other * other).sum()))
    return float((one * other).sum()) / norm if norm > 0 else 0.0
