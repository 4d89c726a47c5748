"""A confirmation run moves along its table, is sealed while it is graded, and enters one dated release."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen
from governance.disclosure import bits

MOVES: dict[str, tuple[str, ...]] = {
    "requested": ("queued", "incomplete", "withdrawn"),
    "queued": ("running", "incomplete", "withdrawn"),
    "running": ("grading", "incomplete", "withdrawn"),
    "grading": ("confirmed", "incomplete", "withdrawn"),
    "confirmed": ("withdrawn",),
}
NOT_CHARGED = "enterprise"
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(slots=True)
class _Run:
    line: tuple[str, str] = ("", "")
    submission: str = ""
    package: str = ""
    state: str = ""
    seen: int = -1
    is_sealed: bool = False
    is_dated: bool = False


class Confirmations(Rule):
    """Of one harness line and version there is one, a second only where the first ended incomplete."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            *("submission.admitted", "run.created", "leak.charged", "confirmation.requested"),
            *("confirmation.moved", "confirmation.lost_runs_repeated", "confirmation.sealed"),
            "confirmation.dated",
        }
    )

    def __init__(self) -> None:
        self._found: dict[str, _Run] = {}
        self._lines: dict[tuple[str, str], list[str]] = {}
        self._packages: dict[str, str] = {}
        self._runs: dict[str, str] = {}
        self._charged: dict[str, int] = {}

    def see(self, event: Seen) -> str | None:
        data = event.data
        if event.kind == "submission.admitted":
            self._packages[event.subject] = data["package_digest"]
        elif event.kind == "run.created":
            if data["run_kind"] == "held_out":
                self._runs[event.subject] = data["package"]
        elif event.kind == "leak.charged":
            if data["charge"] == "confirmation":
                self._charged[event.subject] = data["millibits"]
        elif event.kind == "confirmation.requested":
            return self._requested(event)
        else:
            return self._later(event)
        return None

    def _requested(self, event: Seen) -> str | None:
        data = event.data
        line = (data["harness"], data["task_set"])
        before = self._lines.setdefault(line, [])
        earlier = [self._found[name].state for name in before]
        self._found[event.subject] = _Run(line, data["submission"], state="requested", seen=event.position)
        before.append(event.subject)
        if (len(earlier) > 1 or earlier not in ([], ["incomplete"])) and not event.excused():
            return f"the line {data['harness']} asks for more confirmation runs than it has on {data['task_set']}"
        return None

    def _later(self, event: Seen) -> str | None:
        found = self._found.get(event.subject)
        if found is None:
            if event.excused():
                return None
            return f"{event.kind} names the confirmation run {event.subject}, which was not asked for"
        since, found.seen = found.seen, event.position
        if found.is_dated:
            return f"the confirmation run {event.subject} changes after a dated release"
        if event.kind == "confirmation.moved":
            return self._moved(event, found, since)
        if event.kind == "confirmation.sealed":
            return self._sealed(event, found, since)
        return self._dated(event, found, since) if event.kind == "confirmation.dated" else None

    def _moved(self, event: Seen, found: _Run, since: int) -> str | None:
        before, after, name = event.data["before"], event.data["after"], event.subject
        state, found.state = found.state, after
        if after not in MOVES.get(before, ()):
            return f"from {before} to {after} is no legal move of the confirmation run {name}"
        if before != state and not event.excused(since):
            return f"the confirmation run {name} moves from {before}, but it is {state}"
        if after == "confirmed" and not found.is_sealed and not event.excused(since):
            return f"the confirmation run {name} is confirmed without a sealed result"
        if after == "running":
            package = self._packages.get(found.submission, "")
            if self._runs.get(event.data["run"]) != package and not event.excused():
                return f"the confirmation run {name} names no held-out run of its submission's package"
        return None

    def _sealed(self, event: Seen, found: _Run, since: int) -> str | None:
        data, name = event.data, event.subject
        again, found.is_sealed = found.is_sealed, True
        if again:
            return f"the confirmation run {name} is sealed a second time"
        if found.state != "grading" and not event.excused(since):
            return f"the confirmation run {name} is sealed while it is {found.state}"
        if not _HASH.fullmatch(data["runs_root"]) or not _HASH.fullmatch(data["policy_row"]):
            return f"the confirmation run {name} names no root over its runs or no policy row"
        if found.submission not in self._charged and not event.excused():
            return f"the confirmation run {name} is sealed before anything was charged for it"
        return None

    def _dated(self, event: Seen, found: _Run, since: int) -> str | None:
        data, name = event.data, event.subject
        found.is_dated = True
        values = data.get("values") or {}
        if (data["state"] != found.state or data["state"] not in ("confirmed", "withdrawn")) and (
            not event.excused(since)
        ):
            return f"the confirmation run {name} enters a dated release as {data['state']}, but it is {found.state}"
        if data["state"] == "withdrawn" and values:
            return f"the confirmation run {name} was withdrawn, but a dated release shows its values"
        due = bits.of_result(len(values.keys() - {NOT_CHARGED}))
        if self._charged.get(found.submission, 0) < due and not event.excused():
            return f"the confirmation run {name} shows more than was charged for it"
        return None


class DatedReleases(Rule):
    """A date is announced before it takes place, and takes place once."""

    kinds: ClassVar[frozenset[str]] = frozenset({"release.planned", "release.dated"})

    def __init__(self) -> None:
        self._planned: set[str] = set()
        self._dated: set[str] = set()

    def see(self, event: Seen) -> str | None:
        name = event.subject
        if event.kind == "release.planned":
            again = name in self._planned
            self._planned.add(name)
            return f"the date {name} is announced a second time" if again else None
        again = name in self._dated
        self._dated.add(name)
        if again:
            return f"the dated release {name} takes place a second time"
        if name not in self._planned and not event.excused():
            return f"the dated release {name} was never announced"
        if event.data["results"] and not _HASH.fullmatch(event.data["sha256"]):
            return f"the dated release {name} names no document"
        return None
