"""The disclosed entries in their order: how many there are, what the rules say, whether a time stands out."""

from __future__ import annotations

from audit.merkle.tiles import WIDTH
from client.audit.bundles import Checked, Fact
from client.audit.report import Report
from client.audit.rules import Judge, Seen
from client.audit.rules.base import Excuses

APART = 3600 * 1_000_000
"""An hour in microseconds: further from its neighbours no entry should be dated."""


WITHHELD = "entry.withheld"
MOST_PLACES = 20
"""Withheld positions that are told one by one."""
MOST_DIGITS = 20


class Times:
    """Positions are the order, so times may go back a little; one that goes back or ahead by more than an hour is told.

    Where the time falls by more than an hour, either this entry is dated too early or the one before too late: the
    one before that decides. An hour in which nothing happened is no fault.
    """

    def __init__(self) -> None:
        self._place, self._at = -1, 0
        self._earlier = 0

    def see(self, position: int, at: int) -> tuple[int, str] | None:
        """The entry that stands out, if one does now, and in which way."""
        if at >= self._at - APART:
            self._earlier, self._place, self._at = self._at, position, at
            return None
        if at >= self._earlier - APART:
            guilty, self._place, self._at = self._place, position, at
            return guilty, "it is dated more than an hour after the next one"
        return position, "it is dated more than an hour before the one before it"


class History:
    """Takes checked bundles in order."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.judge = Judge()
        self.disclosed = self.withheld = 0
        self.first, self.last = 0, -1
        self._times = Times()
        self._last_withheld = -1
        self._unknown: set[str] = set()
        self._excuses = Excuses()
        self._hidden: list[tuple[int, int]] = []
        """Stretches of withheld entries, first and last position."""
        self._announced: set[int] = set()
        """Positions of which a disclosed entry says that they are withheld."""

    def take(self, checked: Checked) -> None:
        """The next bundle."""
        begin = checked.number * WIDTH
        self._count(begin, checked)
        for position, wrong in checked.malformed:
            self.report.break_rule(position, wrong)
        if checked.facts:
            self._judge(begin, checked)
        elif checked.withheld:
            self._last_withheld = begin + checked.withheld[-1]

    def _count(self, begin: int, checked: Checked) -> None:
        hidden = checked.withheld
        shown = checked.width - len(hidden)
        if shown:
            if hidden:
                places = sorted(set(range(checked.width)).difference(hidden))
                low, high = places[0], places[-1]
            else:
                low, high = 0, checked.width - 1
            if not self.disclosed:
                self.first = begin + low
            self.last = begin + high
        if hidden:
            self._hide(begin, hidden)
        self.disclosed += shown
        self.withheld += len(hidden)

    def _hide(self, begin: int, offsets: list[int]) -> None:
        stretches = self._hidden
        for offset in offsets:
            at = begin + offset
            if stretches and stretches[-1][1] == at - 1:
                stretches[-1] = (stretches[-1][0], at)
            else:
                stretches.append((at, at))

    def finish(self) -> None:
        """Tell, after the last bundle, what withheld entries leave open."""
        self.report.unjudged, self.report.first_unjudged = self._excuses.count, self._excuses.first
        count, places = 0, list[int]()
        for first, last in self._hidden:
            # Entries before and after the disclosed part were not asked for.
            for at in range(max(first, self.first), min(last, self.last) + 1):
                if at not in self._announced:
                    count += 1
                    if len(places) < MOST_PLACES:
                        places.append(at)
        if count:
            listed = ", ".join(map(str, places)) + (" …" if count > len(places) else "")
            what = f"withheld, and no disclosed entry says why: {count} between the disclosed ones ({listed})"
            self.report.notice(places[0], what)

    def _judge(self, begin: int, checked: Checked) -> None:
        hidden, following, judge = checked.withheld, 0, self._judge_one
        for fact in checked.facts:
            while following < len(hidden) and hidden[following] < fact[0]:
                self._last_withheld = begin + hidden[following]
                following += 1
            judge(begin + fact[0], fact)
        if hidden:
            self._last_withheld = begin + hidden[-1]

    def _judge_one(self, position: int, fact: Fact) -> None:
        _, kind, subject, outcome, data, at = fact
        if odd := self._times.see(position, at):
            self.report.notice(*odd)
        if data is not None:
            event = Seen(position, kind, subject, outcome, data, self._last_withheld, self._excuses)
            if kind == WITHHELD and subject.isascii() and subject.isdecimal() and len(subject) < MOST_DIGITS:
                self._announced.add(int(subject))
            for wrong in self.judge.see(event):
                self.report.break_rule(position, wrong)
        elif kind not in self.judge.known and kind not in self._unknown:
            self._unknown.add(kind)
            self.report.notice(
                position, f"the kind {kind} is not known to this version; no rule was checked for it"
            )
