"""Side figures of a confirmation run: which are shown, how coarsely, and what they can tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from governance.disclosure import sides
from governance.release import ENTERPRISE

POOLED = "enterprise"


@dataclass(frozen=True)
class Means:
    """Exact means of one domain: shares of 0 to 1, magnitudes with the most that each can be."""

    tasks: int
    shares: Mapping[str, Decimal]
    magnitudes: Mapping[str, tuple[Decimal, int]]


@dataclass
class Sides:
    """What is shown, by name and place, and how many values each figure could have had."""

    shown: dict[str, dict[str, int]] = field(default_factory=dict)
    levels: list[int] = field(default_factory=list)

    def add(self, name: str, place: str, value: int, levels: int) -> None:
        self.shown.setdefault(name, {})[place] = value
        self.levels.append(levels)


def side_figures(domains: Mapping[str, Means]) -> Sides:
    """Each domain's own where it has tasks enough; else the enterprise domains pooled; else left out.

    Whether there are enough depends on the version alone, so what is left out tells nothing of the harness.
    """
    enterprise = [domains[name] for name in ENTERPRISE if name in domains]
    places = {name: found for name, found in domains.items() if name not in ENTERPRISE}
    if enterprise and all(_has_enough(found.tasks) for found in enterprise):
        places |= {name: domains[name] for name in ENTERPRISE if name in domains}
    elif enterprise:
        places[POOLED] = pooled(enterprise)
    found = Sides()
    for place, means in places.items():
        if _has_enough(means.tasks):
            _show(found, place, means)
    return found


def pooled(parts: Sequence[Means]) -> Means:
    """Several domains as one, each weighted by its tasks; only what all of them have."""
    tasks = sum(part.tasks for part in parts)

    def mean(values: Iterable[Decimal]) -> Decimal:
        whole = sum((value * part.tasks for value, part in zip(values, parts, strict=True)), Decimal(0))
        return whole / tasks

    return Means(
        tasks,
        {name: mean(part.shares[name] for part in parts) for name in _common([p.shares for p in parts])},
        {
            name: (
                mean(part.magnitudes[name][0] for part in parts),
                max(part.magnitudes[name][1] for part in parts),
            )
            for name in _common([p.magnitudes for p in parts])
        },
    )


def _common(parts: Sequence[Mapping[str, object]]) -> list[str]:
    return [name for name in parts[0] if all(name in part for part in parts)]


def _has_enough(tasks: int) -> bool:
    return tasks >= sides.FEWEST_TASKS


def _show(found: Sides, place: str, means: Means) -> None:
    step = sides.step_of(means.tasks)
    for name, share in means.shares.items():
        found.add(name, place, sides.share(min(share, Decimal(1)), step), sides.levels_of_share(step))
    for name, (value, most) in means.magnitudes.items():
        shown = sides.magnitude(min(value, Decimal(most)))
        found.add(name, place, shown, sides.levels_of_magnitude(most))
