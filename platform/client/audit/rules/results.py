"""A result is released once, with plausible values, after its run has come to an end; it is read only afterwards."""

from __future__ import annotations

import re
from typing import ClassVar

from client.audit.rules.base import Rule, Seen

_HASH = re.compile(r"[0-9a-f]{64}")
_COVERAGE = re.compile(r"0\.[0-9]{2}|1\.00")
RELEASABLE = frozenset({"grading", "held", "incomplete"})


class Releases(Rule):
    """At most one release a submission; values on the grid of 0 to 100."""

    kinds: ClassVar[frozenset[str]] = frozenset({"submission.moved", "result.released", "result.read"})

    def __init__(self) -> None:
        self._released: set[str] = set()
        self._states: dict[str, tuple[str, int]] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "submission.moved":
            self._states[event.subject] = (event.data["after"], event.position)
            return None
        if event.kind == "result.read":
            if event.subject in self._released or event.excused():
                return None
            return f"the result of the submission {event.subject} is read before it was released"
        return self._release(event)

    def _release(self, event: Seen) -> str | None:
        if event.subject in self._released:
            return f"the result of the submission {event.subject} is released a second time"
        self._released.add(event.subject)
        state, since = self._states.get(event.subject, ("created", -1))
        if state not in RELEASABLE and not event.excused(since):
            return f"the result of the submission {event.subject} is released while it is {state}"
        return _values(event)


def _values(event: Seen) -> str | None:
    """Points where points belong, and what the values rest on named by its hash."""
    data, name = event.data, event.subject
    shown = [("value", "h", data["values"]), ("low", "high", data.get("bounds", {}))]
    for one, other, domains in shown:
        for domain, numbers in domains.items():
            if set(numbers) != {one, other} or not all(map(_is_point, numbers.values())):
                return f"the release of the submission {name} shows no points of 0 to 100 for {domain}"
    if not data["policy"] or not _COVERAGE.fullmatch(data["coverage"]):
        return f"the release of the submission {name} names no policy or no coverage"
    if not _HASH.fullmatch(data["policy_row"]) or not _HASH.fullmatch(data["runs_root"]) or data["runs"] < 1:
        return f"the release of the submission {name} names no policy row or no root over its runs"
    return None


def _is_point(number: object) -> bool:
    return type(number) is int and 0 <= number <= 100


class Ended(Rule):
    """Before a release some held-out run of the submission's package has ended, or was cancelled by a choice."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            "submission.admitted",
            "run.created",
            "run.ended",
            "run.reopened",
            "run.cancelled",
            "result.released",
        }
    )

    def __init__(self) -> None:
        self._package: dict[str, str] = {}
        self._runs: dict[str, str] = {}
        self._through: dict[str, set[str]] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "submission.admitted":
            self._package[event.subject] = event.data["package_digest"]
        elif event.kind == "run.created":
            if event.data["run_kind"] == "held_out":
                self._runs[event.subject] = event.data["package"]
        elif event.kind == "result.released":
            package = self._package.get(event.subject, "")
            if not self._through.get(package) and not event.excused():
                return f"the result of the submission {event.subject} is released before its run has ended"
        elif package := self._runs.get(event.subject, ""):
            through = self._through.setdefault(package, set())
            if event.kind == "run.reopened":
                through.discard(event.subject)
            else:
                through.add(event.subject)
        return None
