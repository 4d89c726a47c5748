"""Signals that two lineages may belong together: equal registration data, networks, packages; near-identical cards."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from uuid import UUID

from accounts.linking.models import NetworkMark
from accounts.linking.services import KEPT, Signal
from accounts.models import Registration
from config import clock
from submissions.linking.similarity import near, words
from submissions.models import HarnessVersion, Submission

Pair = tuple[UUID, UUID]


def found() -> dict[Pair, set[Signal]]:
    """Every pair of different lineages with all that speaks for one owner."""
    signals: dict[Pair, set[Signal]] = defaultdict(set)
    for kind, rows in _equal():
        lineages: dict[str, set[UUID]] = defaultdict(set)
        for mark, lineage in rows:
            if mark:
                lineages[mark].add(lineage)
        for mark, sharing in lineages.items():
            for one, other in combinations(sorted(sharing), 2):
                signals[one, other].add((kind, mark))
    for pair, mark in _near_cards():
        signals[pair].add(("card", mark))
    return signals


def _equal() -> Iterator[tuple[str, Iterable[tuple[str, UUID]]]]:
    """By kind: marks with the lineage that has each."""
    lineage = "organisation__lineage"
    for kind in ("name", "number", "domain"):
        yield kind, Registration.objects.values_list(f"{kind}_mark", lineage).distinct()
    since = (clock.now() - KEPT).date()
    yield "network", NetworkMark.objects.filter(day__gte=since).values_list("mark", lineage).distinct()
    yield "package", Submission.of_any_scope.values_list("package_digest", lineage).distinct()


def _near_cards() -> Iterator[tuple[Pair, str]]:
    """Pairs whose latest cards are near-identical; the mark names the two harnesses, whatever their cards become."""
    latest = HarnessVersion.objects.order_by("harness", "-created_at").distinct("harness")
    rows = [
        (lineage, str(harness), words(card))
        for lineage, harness, card in latest.values_list("harness__organisation__lineage", "harness", "card")
    ]
    for (one, harness, mine), (other, theirs, yours) in combinations(rows, 2):
        if one != other and near(mine, yours):
            mark = hashlib.sha256("\0".join(sorted((harness, theirs))).encode()).hexdigest()
            yield (min(one, other), max(one, other)), mark
