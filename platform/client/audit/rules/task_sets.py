"""A task set is admitted, then frozen with exactly that content, then opened; each of the last two once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen

_ROOT = re.compile(r"[0-9a-f]{64}")


@dataclass
class _TaskSet:
    admitted: str = ""
    frozen: bool = False
    opened: bool = False
    closed: bool = False
    seen: int = -1


class TaskSets(Rule):
    """The order of admitted, frozen and opened, and what may refer to a set in which state."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            *("task_set.admitted", "task_set.frozen", "task_set.opened", "task_set.closed"),
            *("release_policy.set", "submission.admitted", "preflight.admitted", "run.created"),
        }
    )

    def __init__(self) -> None:
        self._sets: dict[str, _TaskSet] = {}
        self._labels: dict[str, _TaskSet] = {}

    def see(self, event: Seen) -> str | None:
        if not event.kind.startswith("task_set."):
            return self._used(event)
        found = self._sets.setdefault(event.subject, _TaskSet())
        since, found.seen = found.seen, event.position
        step = {"admitted": _admitted, "frozen": _frozen, "opened": _opened, "closed": _closed}
        wrong = step[event.kind.partition(".")[2]](found, event, since)
        if label := event.data.get("label"):
            self._labels[label] = found
        return wrong

    def _used(self, event: Seen) -> str | None:
        label = event.data["task_set"]
        found = self._labels.get(label, _TaskSet())
        wrong = None
        if event.kind in ("submission.admitted", "preflight.admitted") and not found.opened:
            wrong = f"a {event.kind.partition('.')[0]} is admitted to the task set {label}, which is not open"
        elif not found.frozen:
            wrong = f"{event.kind} refers to the task set {label}, which is not frozen"
        return None if wrong is None or event.excused(found.seen) else wrong


def _admitted(found: _TaskSet, event: Seen, since: int) -> str | None:
    found.admitted = event.data["digest"]
    return f"the task set {event.subject} passes admission after it was frozen" if found.frozen else None


def _frozen(found: _TaskSet, event: Seen, since: int) -> str | None:
    again, found.frozen = found.frozen, True
    if again:
        return f"the task set {event.subject} is frozen a second time"
    if not _ROOT.fullmatch(event.data["assets_root"]):
        return f"the task set {event.subject} is frozen without a root over what it holds"
    if found.admitted != event.data["digest"] and not event.excused(since):
        return f"the task set {event.subject} is frozen with content that did not pass admission"
    return None


def _opened(found: _TaskSet, event: Seen, since: int) -> str | None:
    again, found.opened = found.opened, True
    if again:
        return f"the task set {event.subject} is opened a second time"
    if not found.frozen and not event.excused(since):
        return f"the task set {event.subject} is opened before it was frozen"
    found.frozen = True
    return None


def _closed(found: _TaskSet, event: Seen, since: int) -> str | None:
    again, found.closed = found.closed, True
    return f"the task set {event.subject} is closed a second time" if again else None


class Policies(Rule):
    """Where a policy names people, they are two: who proposed it and who approved it."""

    kinds: ClassVar[frozenset[str]] = frozenset({"quota.policy_set", "release_policy.set"})

    def see(self, event: Seen) -> str | None:
        people = event.data.get("people")
        if people is None or len(set(people)) == len(people) == 2:
            return None
        return f"{event.kind} names {len(set(people))} person behind the policy of {event.subject}, not two"
