"""What a rule across events is, and the registry of rules.

A rule declares the kinds it reads and says what is wrong with an event, given the ones before it. Later kinds bring
their rules by a module in this package: it is found by itself. Positions are the order; times are not.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

PACKAGE = "client.audit.rules"


class Excuses:
    """How many findings fell away because what they miss may be withheld, and at which entry the first one did."""

    def __init__(self) -> None:
        self.count = 0
        self.first: int | None = None

    def add(self, position: int) -> None:
        """One more, at this entry."""
        self.count += 1
        if self.first is None:
            self.first = position


class Seen(NamedTuple):
    """An event as a rule sees it. `withheld` is the last position before it that is withheld, -1 for none."""

    position: int
    kind: str
    subject: str
    outcome: str
    data: dict[str, Any]
    withheld: int
    excuses: Excuses | None = None
    """Where an excuse that was made is counted."""

    def excused(self, since: int = -1) -> bool:
        """Whether what is missed may stand in an entry that was withheld after position `since`.

        Rules ask this last, once everything else says that something is wrong: an excuse that is given is counted as
        a finding that could not be judged.
        """
        if self.withheld <= since:
            return False
        if self.excuses is not None:
            self.excuses.add(self.position)
        return True


class Rule:
    """Base of all rules; one instance lives as long as one verification and keeps what it needs of earlier events."""

    kinds: ClassVar[frozenset[str]]
    registry: ClassVar[list[type[Rule]]] = []

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        Rule.registry.append(cls)

    def see(self, event: Seen) -> str | None:
        """What is wrong with the event, None where nothing is. KeyError and TypeError mean that a fact is missing."""
        raise NotImplementedError


_plain: set[str] = set()


def known_without_rule(*kinds: str) -> None:
    """Declare kinds that no rule reads, so that they are not reported as unknown."""
    _plain.update(kinds)


def load() -> list[type[Rule]]:
    """Import every module of the package; all rules there are."""
    package = importlib.import_module(PACKAGE)
    for found in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{PACKAGE}.{found.name}")
    return list(Rule.registry)


def known_kinds(rules: Iterable[type[Rule]]) -> frozenset[str]:
    """All kinds that some rule reads or that were declared without one."""
    return frozenset(_plain).union(*(rule.kinds for rule in rules))


class Judge:
    """All rules over one history."""

    def __init__(self) -> None:
        classes = load()
        self.read = frozenset[str]().union(*(rule.kinds for rule in classes))
        """Kinds whose facts some rule needs."""
        self.known = known_kinds(classes)
        self._by_kind: dict[str, list[Callable[[Seen], str | None]]] = {}
        for made in (rule() for rule in classes):
            for kind in made.kinds:
                self._by_kind.setdefault(kind, []).append(made.see)

    def see(self, event: Seen) -> list[str]:
        """Everything that is wrong with the event."""
        found: list[str] = []
        for see in self._by_kind.get(event.kind, ()):
            try:
                wrong = see(event)
            except (KeyError, TypeError, ValueError, AttributeError):
                wrong = f"{event.kind} lacks a fact that its kind has, or has one of the wrong type"
            if wrong and wrong not in found:
                found.append(wrong)
        return found
