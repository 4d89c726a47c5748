"""The smallest staff under which every duty has a holder, every decision two people, and no conflict exists.

Found by trying: nobody is better off holding less, so each person is given a set of duties to which no further one
could be added, and staffs of 1, 2, 3 … such people are tried until one does. With eight duties that is a few thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement

from accounts.duties.policies import can_be_taken
from accounts.duties.table import Decision, Duty, conflicting

MOST = 16
"""People beyond which nothing is tried: two for each duty always do."""


def compatible(duties: Sequence[Duty]) -> bool:
    """Whether one person may hold all of these."""
    return not any(conflicting(one, other) for one, other in combinations(duties, 2))


def satisfies(staff: Sequence[frozenset[Duty]]) -> bool:
    """Whether a staff has a holder for each duty and two people for each decision."""
    return set(Duty) <= set().union(*staff) and all(
        can_be_taken(decision, enumerate(staff)) for decision in Decision
    )


@cache
def smallest_staff() -> tuple[frozenset[Duty], ...]:
    """What each person of it holds, nobody more than is needed."""
    for count in range(1, MOST + 1):
        for staff in combinations_with_replacement(_fullest(), count):
            if satisfies(staff):
                return _without_surplus(list(staff))
    raise LookupError("no staff satisfies the rules: the table of duties contradicts itself")


def _fullest() -> list[frozenset[Duty]]:
    """Sets of duties that one person may hold and to which none can be added."""
    sets = [
        frozenset(chosen)
        for size in range(1, len(Duty) + 1)
        for chosen in combinations(Duty, size)
        if compatible(chosen)
    ]
    return [one for one in sets if not any(one < other for other in sets)]


def _without_surplus(staff: list[frozenset[Duty]]) -> tuple[frozenset[Duty], ...]:
    """The same people, without the duties that nobody would miss."""
    for number in range(len(staff)):
        for duty in sorted(staff[number]):
            fewer = [*staff[:number], staff[number] - {duty}, *staff[number + 1 :]]
            if fewer[number] and satisfies(fewer):
                staff = fewer
    return tuple(staff)
