"""The disclosed entries in their order: how many there are, what the rules say, whether a time stands out."""

from __future__ import annotations

from audit.merkle.tiles import WIDTH
from client.audit.bundles import Checked, Fact
from client.audit.report import Report
from client.audit.rules import Judge, Seen

APART = 3600 * 1_000_000
"""An hour in microseconds: further from its neighbours no entry should be dated."""


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
        self.disclosed += shown
        self.withheld += len(hidden)

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
            event = Seen(position, kind, subject, outcome, data, self._last_withheld)
            for wrong in self.judge.see(event):
                self.report.break_rule(position, wrong)
        elif kind not in self.judge.known and kind not in self._unknown:
            self._unknown.add(kind)
            self.report.notice(
                position, f"the kind {kind} is not known to this version; no rule was checked for it"
            )
