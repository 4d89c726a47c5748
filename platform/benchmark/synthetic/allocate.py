"""How many tasks each family gets, at which level, and which of them are public.

Counts are those of the white paper (section 2.3): 500 general tasks over ten categories and 300 in each
enterprise domain, 65 of them public by stratified sampling on category × operation × difficulty.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from benchmark.synthetic.drafts import Family

DOMAINS = ("general", "finance", "supply_chain", "manufacturing")
PREFIX = {
    "general": "general",
    "finance": "finance",
    "supply_chain": "supply-chain",
    "manufacturing": "manufacturing",
}
TOTALS = {
    "full": {"general": 500, "finance": 300, "supply_chain": 300, "manufacturing": 300},
    "mini": {"general": 50, "finance": 30, "supply_chain": 30, "manufacturing": 30},
}
PUBLIC = {
    "full": {"general": 23, "finance": 14, "supply_chain": 14, "manufacturing": 14},
    "mini": {"general": 4, "finance": 2, "supply_chain": 2, "manufacturing": 2},
}
PRACTICE = {"full": 24, "mini": 6}
# Three basic, four intermediate and three hard tasks in ten, mixed so that a short prefix has all three.
_LEVELS = (2, 1, 3, 2, 3, 1, 2, 2, 1, 3)


@dataclass(frozen=True, order=True)
class Slot:
    """One task to build: family, its running number in it, and the group it belongs to."""

    family: str
    index: int
    group: str = "held_out"


def seeded(*parts: object) -> Random:
    """A generator that depends on these parts only."""
    text = "\x1f".join(str(p) for p in parts)
    # No secret: the whole point is that the same seed draws the same bank.
    return Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))  # noqa: S311


def level(index: int) -> int:
    """Difficulty 1 to 3 of the task with this running number (from 1)."""
    return _LEVELS[(index - 1) % len(_LEVELS)]


def share(total: int, families: Sequence[Family]) -> dict[str, int]:
    """Spread a total evenly over categories and within a category over its families, remainders first."""
    by_category: dict[str, list[str]] = defaultdict(list)
    for family in families:
        by_category[family.category].append(family.key)
    categories = sorted(by_category)
    counts: dict[str, int] = {}
    for place, category in enumerate(categories):
        part = total // len(categories) + (place < total % len(categories))
        keys = sorted(by_category[category])
        for number, key in enumerate(keys):
            counts[key] = part // len(keys) + (number < part % len(keys))
    return counts


def slots(families: Iterable[Family], size: str, *, seed: object, reserve: int = 0) -> list[Slot]:
    """All tasks of a bank with their groups, in order of family and number."""
    families = [f for f in families if f.split == "bank"]
    found: list[Slot] = []
    counts: dict[str, int] = {}
    for domain in DOMAINS:
        own = [f for f in families if f.domain == domain]
        counts |= share(TOTALS[size][domain], own)
        tasks = [Slot(f.key, n + 1) for f in own for n in range(counts[f.key])]
        found += _with_public(
            tasks, {f.key: f for f in own}, PUBLIC[size][domain], seeded("public", seed, domain)
        )
    keys = sorted(counts)
    for number in range(reserve):
        key = keys[number % len(keys)]
        counts[key] += 1
        found.append(Slot(key, counts[key], "reserve"))
    return sorted(found)


def practice(families: Iterable[Family], size: str) -> list[Slot]:
    """Practice tasks, from families that no other group uses."""
    return sorted(
        Slot(f.key, n + 1, "dev") for f in families if f.split == "dev" for n in range(PRACTICE[size])
    )


def spare(families: Iterable[Family], wanted: int, *, first: int) -> list[Slot]:
    """So many reserve tasks of the bank's families, each numbered from `first`; the strata follow one another.

    A number that no bank uses gives tasks of the same families and strata that no bank holds.
    """
    keys = sorted(f.key for f in families if f.split == "bank")
    return sorted(Slot(keys[n % len(keys)], first + n // len(keys), "reserve") for n in range(wanted))


def stratum(family: Family, index: int) -> tuple[str, str, int]:
    """Scenario category × operation type × difficulty tier."""
    return family.category, family.operation, level(index)


def _with_public(
    tasks: Sequence[Slot], families: Mapping[str, Family], wanted: int, rng: Random
) -> list[Slot]:
    """Mark public tasks: proportional over strata by largest remainder, never the last one of a stratum."""
    strata: dict[tuple[str, str, int], list[Slot]] = defaultdict(list)
    for task in tasks:
        strata[stratum(families[task.family], task.index)].append(task)
    order = sorted(strata)
    rng.shuffle(order)
    quota = {s: min(wanted * len(strata[s]) // len(tasks), len(strata[s]) - 1) for s in order}
    rest = sorted(
        (s for s in order if len(strata[s]) - quota[s] > 1),
        key=lambda s: -(wanted * len(strata[s]) % len(tasks)),
    )
    for s in rest[: wanted - sum(quota.values())]:
        quota[s] += 1
    public = {task for s in order for task in rng.sample(strata[s], quota[s])}
    if len(public) != wanted:
        raise ValueError(f"{len(public)} public tasks found, {wanted} wanted: too few strata with two tasks")
    return [Slot(t.family, t.index, "public" if t in public else "held_out") for t in tasks]
