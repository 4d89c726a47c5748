"""The state of one harness line and of one organisation while their submissions come in."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from governance.detection.channels import echo, focus
from governance.detection.contrasts import Contrast
from governance.detection.findings import Finding
from governance.detection.statistics import e_value, surprise

WHOLE_LIFE = (focus.NAME, echo.NAME)
"""Channels whose statistic is of a line's whole life, and not a sum of findings."""


@dataclass(frozen=True)
class Evidence:
    """One finding of one submission, kept for reviewers and for an appeal."""

    submission: str
    account: str
    finding: Finding


@dataclass
class Line:
    """One account's harness, and what speaks against it, channel by channel."""

    account: str
    organisation: str
    places: list[int] = field(default_factory=list)
    submissions: list[str] = field(default_factory=list)
    sent: list[datetime] = field(default_factory=list)
    last: Contrast | None = None
    gains: list[float] = field(default_factory=list)
    """Of each submission over its predecessor, in errors: looked at, never counted."""
    spoilt: list[focus.Spoilt] = field(default_factory=list)
    echoes: list[echo.Echoes] = field(default_factory=list)
    evidence: dict[str, list[Evidence]] = field(default_factory=lambda: defaultdict(list))
    totals: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    state: float = 1.0
    """The e-process: M ← max(1, M)·e for each submission."""
    highest: float = 1.0

    def add(self, findings: list[Finding]) -> None:
        """Take the findings of the latest submission."""
        for finding in findings:
            if finding.excess > 0:
                self.evidence[finding.channel].append(Evidence(self.submissions[-1], self.account, finding))
                self.totals[finding.channel] += finding.excess
        p = min(1.0, len(findings) * min((finding.p for finding in findings), default=1.0))
        self.state = max(1.0, self.state) * e_value(p)
        self.highest = max(self.highest, self.state)

    def look_at_dips(self) -> None:
        """The whole line's dips and echoes again; the level holds for the sum at any time, not for a sum of looks."""
        self.totals[focus.NAME] = surprise(focus.tail(self.spoilt))
        self.totals[echo.NAME] = surprise(echo.tail(self.echoes))


@dataclass
class Group:
    """Organisations that are one lineage: themselves, or several that were joined."""

    organisations: set[str]
    lines: list[Line] = field(default_factory=list)
    alarms: set[str] = field(default_factory=set)

    def statistic(self, channel: str) -> float:
        """What the levels are for: the sum over its lines, for dips the largest."""
        values = [line.totals[channel] for line in self.lines if channel in line.totals]
        if channel in WHOLE_LIFE:
            return max(values, default=0.0)
        return sum(values)
