"""States of rows as events tell them, to be compared with the rows themselves.

A `Ledger` describes one governed table: which event begins an object, how each later one changes it, and the query
that shows the same columns now. The apps declare theirs in a module named `replay`. Everything is compared as text;
a missing value is the empty text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from django.conf import settings

State: TypeAlias = dict[str, str]
Step: TypeAlias = Callable[[State, "Told"], None]
"""Changes a state by one event. An object's first event finds an empty state."""

INSTANT = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
"""SQL for an instant as events write it."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a step raises over facts of another form than its services write."""


@dataclass(frozen=True)
class Told:
    """What one event says."""

    kind: str
    subject: str
    data: Mapping[str, Any]
    actor: Mapping[str, Any]
    outcome: str

    def text(self, name: str) -> str:
        """A fact as text; empty where the event does not have it."""
        value = self.data.get(name)
        return "" if value is None else str(value)

    @property
    def by(self) -> str:
        """The actor as ledgers store it."""
        return f"{self.actor.get('kind')}:{self.actor.get('id')}"


def told(body: Mapping[str, Any]) -> Told:
    """The event in a decoded body; parts that are missing are empty."""
    subject, data, actor = (body.get(name) for name in ("subject", "data", "actor"))
    return Told(
        kind=str(body.get("kind", "")),
        subject=str(subject.get("id", "")) if isinstance(subject, dict) else "",
        data=data if isinstance(data, dict) else {},
        actor=actor if isinstance(actor, dict) else {},
        outcome=str(body.get("outcome", "")),
    )


@dataclass(frozen=True)
class Ledger:
    """One table. `query` gives an object's id, then `columns`, as text, in any order of rows.

    `begins` are the kinds with which an object comes into being; for an object without one a row is not explained.
    """

    table: str
    columns: Sequence[str]
    query: str
    begins: frozenset[str]
    steps: Mapping[str, Step]
    key: Callable[[Told], str] = lambda event: event.subject
    shape: Callable[[Sequence[Any]], Sequence[Any]] = lambda row: row
    """From a row of the query to id and columns, where SQL alone cannot say it."""


def ledgers() -> list[Ledger]:
    """All that the apps declare."""
    modules = [f"{app}.replay" for app in settings.LOCAL_APPS if find_spec(app)]
    found = [import_module(name) for name in modules if find_spec(name) and name != "audit.replay"]
    return [*LEDGERS, *(ledger for module in found for ledger in module.LEDGERS)]


@dataclass
class _Kept:
    state: State
    position: int | None
    """Of the last event about the object; None while that waits."""
    begun: bool = False


@dataclass(frozen=True)
class Difference:
    """A row that events do not explain. `position` is that of the last event about it, None where there is none."""

    table: str
    row: str
    position: int | None
    what: str


@dataclass
class Replay:
    """Takes events in the order of the log, then compares."""

    ledgers: Sequence[Ledger]
    _by_kind: dict[str, list[tuple[int, Step]]] = field(default_factory=dict)
    _objects: list[dict[str, _Kept]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._objects = [{} for _ in self.ledgers]
        for number, ledger in enumerate(self.ledgers):
            for kind, step in ledger.steps.items():
                self._by_kind.setdefault(kind, []).append((number, step))

    def see(self, body: Mapping[str, Any], position: int | None) -> list[Difference]:
        """The next event. What is returned are the tables that it says something unreadable about."""
        kind = body.get("kind")
        followers = self._by_kind.get(kind) if isinstance(kind, str) else None
        if not followers:
            return []
        event = told(body)
        unread = []
        for number, step in followers:
            try:
                self._follow(number, step, event, position)
            except UNREADABLE as error:  # whatever an event says, the others are still compared
                what = f"the event {event.kind} says nothing readable about it: {_name_of(error)}"
                unread.append(Difference(self.ledgers[number].table, event.subject, position, what))
        return unread

    def _follow(self, number: int, step: Step, event: Told, position: int | None) -> None:
        ledger = self.ledgers[number]
        kept = self._objects[number].setdefault(ledger.key(event), _Kept({}, position))
        kept.position = position
        kept.begun = kept.begun or event.kind in ledger.begins
        step(kept.state, event)

    def differences(self, rows: Callable[[str], Iterable[Sequence[Any]]]) -> Iterator[Difference]:
        """Compare; `rows` runs a query. Each object is forgotten once it was compared."""
        for ledger, objects in zip(self.ledgers, self._objects, strict=True):
            for row in rows(ledger.query):
                try:
                    identifier, *values = ledger.shape(row)
                except UNREADABLE as error:  # one row that cannot be read hides no other
                    what = f"the row cannot be read: {_name_of(error)}"
                    yield Difference(ledger.table, str(row[0]), None, what)
                    objects.pop(str(row[0]), None)
                    continue
                kept = objects.pop(str(identifier), None)
                found = dict(zip(ledger.columns, map(_text, values), strict=True))
                if what := _difference(kept, found):
                    yield Difference(ledger.table, str(identifier), kept.position if kept else None, what)
            for identifier, kept in objects.items():
                yield Difference(ledger.table, identifier, kept.position, "the row is gone")
            objects.clear()


def _name_of(error: Exception) -> str:
    """The kind of error alone: its text may quote what the event says at any length."""
    return type(error).__name__


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _difference(kept: _Kept | None, found: State) -> str:
    """What is wrong with a row; empty where the events explain it."""
    if kept is None or not kept.begun:
        return "no event tells of its beginning"
    for name, value in kept.state.items():
        if found[name] != value:
            return f"{name} is {found[name]!r}, by the events {value!r}"
    return ""


def sets(**facts: str) -> Step:
    """A step that takes facts of the event over: `sets(state="before")` puts the fact `before` into `state`."""

    def step(state: State, event: Told) -> None:
        state.update({column: event.text(fact) for column, fact in facts.items()})

    return step


def becomes(**values: str) -> Step:
    """A step that puts fixed values in, and facts of the same name nowhere."""

    def step(state: State, event: Told) -> None:
        state.update(values)

    return step


def together(*steps: Step) -> Step:
    """Several steps as one."""

    def step(state: State, event: Told) -> None:
        for each in steps:
            each(state, event)

    return step


LEDGERS = [
    Ledger(
        table="audit_witness",
        columns=("name", "vkey"),
        query="SELECT id, name, vkey FROM audit_witness",
        begins=frozenset({"witness.registered"}),
        steps={"witness.registered": sets(name="name", vkey="vkey")},
    ),
]
