"""What a verification found: problems with the entries they concern, notices, and the figures of what was checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

MOST_PROBLEMS = 50
"""Broken rules that are told one by one; the others are counted."""
MOST_NOTICES = 20


def shown(text: str) -> str:
    """One line for a terminal: what is no printable character stands escaped, since files and logs are others'."""
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii") for mark in text
    )


class WrongQuestion(Exception):
    """The question cannot be answered: bad arguments, or a file that cannot be read or is something else (exit 2)."""


@dataclass(frozen=True)
class Problem:
    """Something is wrong, first at entry `first` and at the latest at entry `last`; both None where no entry is.

    `first` is exact where it equals `last`; else the change lies somewhere between the two.
    """

    first: int | None
    last: int | None
    what: str

    def sentence(self) -> str:
        """One line for a person."""
        if self.first is None:
            return self.what
        if self.first == self.last:
            return f"entry {self.first}: {self.what}"
        return f"entry {self.first} to {self.last}: {self.what}"


@dataclass(frozen=True)
class Vouched:
    """What a witness that the reader named vouches for: the first `size` entries, as it saw them at `at`.

    `cosigned` counts the checkpoints that bear its valid cosignature; `size` and `at` (seconds since 1970, `time` in
    words) are of the largest, None where there is none.
    """

    name: str
    key: str
    cosigned: int = 0
    size: int | None = None
    at: int | None = None

    @property
    def time(self) -> str | None:
        """`at` in RFC 3339; as a number where no calendar reaches it."""
        if self.at is None:
            return None
        try:
            return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%dT%H:%M:%SZ}"
        except (ValueError, OverflowError, OSError):
            return f"second {self.at} since 1970"

    def sentence(self, whole: int) -> str:
        """One line for a person; `whole` is the size of the log."""
        if self.size is None:
            return f"witness {self.name}: no cosignature"
        left = whole - self.size
        rest = f"; only the log's own key vouches for the last {left}" if left > 0 else ""
        return f"witness {self.name}: vouches for the first {self.size} of {whole} entries as of {self.time}{rest}"

    def as_dict(self) -> dict[str, Any]:
        """Every field, and `time`."""
        return {**asdict(self), "time": self.time}


@dataclass
class Report:
    """The outcome for one export or receipt. It is `ok` where there is no problem; notices are facts to look at."""

    subject: str
    mode: str
    origin: str = ""
    size: int = 0
    disclosed: int = 0
    withheld: int = 0
    checkpoints: int = 0
    root: str = ""
    key: str = ""
    problems: list[Problem] = field(default_factory=list)
    broken_rules: list[Problem] = field(default_factory=list)
    more_broken_rules: int = 0
    notices: list[Problem] = field(default_factory=list)
    more_notices: int = 0
    unjudged: int = 0
    """Findings that fell away because what they miss may stand in a withheld entry."""
    first_unjudged: int | None = None
    not_compared: list[str] = field(default_factory=list)
    """Files of the export that are for people; only their hashes were checked."""
    proved: list[str] = field(default_factory=list)
    """What the proofs of a receipt, or a single proof, show: one line each."""
    witnesses: list[Vouched] = field(default_factory=list)
    """The witnesses that the reader named, in that order."""

    @property
    def ok(self) -> bool:
        return not self.problems and not self.broken_rules

    @property
    def found(self) -> list[Problem]:
        """Problems and broken rules, those that concern no entry first, then by entry."""
        found = [*self.problems, *self.broken_rules]
        return sorted(found, key=lambda item: -1 if item.first is None else item.first)

    @property
    def first_bad(self) -> int | None:
        """The lowest entry that a problem concerns."""
        return next((item.first for item in self.found if item.first is not None), None)

    def add(self, first: int | None, last: int | None, what: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(first, last, what))

    def add_unless_known(self, first: int, last: int, what: str) -> None:
        """Note a problem that may be only the consequence of a finer one within its range; then it adds nothing."""
        if not any(item.first is not None and first <= item.first <= last for item in self.problems):
            self.add(first, last, what)

    def break_rule(self, at: int, what: str) -> None:
        """Note an entry that is whole but should not stand where it does, or not in this form."""
        if len(self.broken_rules) < MOST_PROBLEMS:
            self.broken_rules.append(Problem(at, at, what))
        else:
            self.more_broken_rules += 1

    def notice(self, at: int, what: str) -> None:
        """Note a fact that breaks nothing."""
        if len(self.notices) < MOST_NOTICES:
            self.notices.append(Problem(at, at, what))
        else:
            self.more_notices += 1

    def as_dict(self) -> dict[str, Any]:
        """One JSON object: every field, `ok` and `first_bad_index`."""
        witnesses = [found.as_dict() for found in self.witnesses]
        return {**asdict(self), "witnesses": witnesses, "ok": self.ok, "first_bad_index": self.first_bad}

    def lines(self) -> list[str]:
        """The report for a person; the first line is the verdict."""
        head = "OK" if self.ok else "BROKEN"
        located = next((item for item in self.found if item.first is not None), None)
        if located:
            head += f" at {located.sentence()}"
        lines = [head]
        if self.unjudged:
            head = "OK as far as disclosed: " if self.ok else ""
            lines.append(
                f"{head}{self.unjudged} findings could not be judged because entries are withheld, "
                f"first at entry {self.first_unjudged}"
            )
        lines += self._figures()
        lines += [f"problem: {item.sentence()}" for item in self.found]
        if self.more_broken_rules:
            lines.append(f"problem: {self.more_broken_rules} more broken rules")
        lines += [f"notice: {name} was not compared with the entries" for name in self.not_compared]
        lines += [f"notice: {item.sentence()}" for item in self.notices]
        if self.more_notices:
            lines.append(f"notice: {self.more_notices} more")
        return [shown(line) for line in lines]

    def _figures(self) -> list[str]:
        if self.mode in ("receipt", "proof"):
            lines = [f"{self.subject}, log {self.origin}, tree of {self.size} entries", *self.proved]
            return lines if self.mode == "receipt" else [*lines, f"root {self.root}", f"key {self.key}"]
        counts = f"{self.size} entries, {self.disclosed} disclosed, {self.withheld} withheld"
        return [
            f"log {self.origin}: {counts}, {self.checkpoints} checkpoints; checked: {self.mode}",
            f"root {self.root}",
            f"key {self.key}",
            *(found.sentence(self.size) for found in self.witnesses),
        ]
