"""Corrections have two people and an order behind them; problems and public lines go their way."""

from __future__ import annotations

from typing import ClassVar, Final

from client.audit.rules.base import Rule, Seen, known_without_rule

INITIAL: Final = "reported"
MOVES: Final = {
    "reported": ("confirmed", "dismissed"),
    "confirmed": ("mended", "dismissed"),
    "mended": ("settled", "confirmed"),
}
"""Of a problem, as the platform has them (governance.records.problems.policies)."""

known_without_rule("leak_index.made", "problem.read")


class Corrections(Rule):
    """Ordered by two people after the release, carried out once, and shown with the root that grading again led to."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"result.released", "regrading.ordered", "regrading.ended", "result.corrected"}
    )

    def __init__(self) -> None:
        self._released: set[str] = set()
        self._ordered: dict[str, str] = {}
        self._ended: dict[str, tuple[str, str]] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "result.released":
            self._released.add(event.subject)
            return None
        if event.kind == "regrading.ordered":
            return self._order(event)
        if event.kind == "regrading.ended":
            return self._end(event)
        return self._correct(event)

    def _order(self, event: Seen) -> str | None:
        name, submission = event.subject, event.data["submission"]
        again = name in self._ordered
        self._ordered[name] = submission
        if again:
            return f"the order {name} to grade again is given a second time"
        if len(set(event.data["people"])) < 2:
            return f"the order {name} to grade again is not two people's"
        if submission not in self._released and not event.excused():
            return f"the submission {submission} is to be graded again before its release"
        return None

    def _end(self, event: Seen) -> str | None:
        name, submission = event.subject, event.data["submission"]
        again = name in self._ended
        self._ended[name] = (event.data["runs_root"], event.data["changes_values"])
        if again:
            return f"the order {name} to grade again is carried out a second time"
        if self._ordered.get(name, submission) != submission:
            return f"the order {name} to grade again is carried out on another submission"
        if name not in self._ordered and not event.excused():
            return f"the submission {submission} is graded again without an order"
        return None

    def _correct(self, event: Seen) -> str | None:
        ended = self._ended.get(event.data["regrading"])
        if ended is None:
            return (
                None
                if event.excused()
                else f"the result of {event.subject} is corrected without grading again"
            )
        if ended != (event.data["runs_root"], "yes"):
            return f"the correction of {event.subject} is not what grading again led to"
        return None


class Problems(Rule):
    """A problem begins as reported and moves by its table; only a version settles it."""

    kinds: ClassVar[frozenset[str]] = frozenset({"problem.reported", "problem.moved", "problem.escalated"})

    def __init__(self) -> None:
        self._state: dict[str, str] = {}

    def see(self, event: Seen) -> str | None:
        name = event.subject
        if event.kind == "problem.reported":
            again = name in self._state
            self._state[name] = INITIAL
            return f"the problem {name} is reported a second time" if again else None
        before = event.data["state"] if event.kind == "problem.escalated" else event.data["before"]
        state = self._state.get(name)
        if state is None and not event.excused():
            return f"the problem {name} was never reported"
        if state not in (None, before) and not event.excused():
            return f"the problem {name} was {state}, not {before}"
        if event.kind == "problem.escalated":
            return None
        after = event.data["after"]
        self._state[name] = after
        if after not in MOVES.get(before, ()):
            return f"the problem {name} does not move from {before} to {after}"
        if (after == "settled") != bool(event.data.get("fixed_in")):
            return f"the problem {name} is settled by no version"
        return None


class PublicLines(Rule):
    """A line stands in the document of one date of errata, and only once it was said."""

    kinds: ClassVar[frozenset[str]] = frozenset({"change_log.added", "change_log.dated"})

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._dated: set[str] = set()

    def see(self, event: Seen) -> str | None:
        name = event.subject
        if event.kind == "change_log.added":
            again = name in self._said
            self._said.add(name)
            return f"the public line {name} is said a second time" if again else None
        again = name in self._dated
        self._dated.add(name)
        if again:
            return f"the public line {name} enters a second document"
        if name not in self._said and not event.excused():
            return f"the public line {name} enters a document and was never said"
        return None
