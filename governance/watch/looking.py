"""One more submission for the detectors, and what of it is to be written down. Arrays in, plain facts out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from governance.detection.analysis import Alarm, Analysis
from governance.detection.channels import gain, gap
from governance.detection.channels.linking import CORRELATION, EQUAL_ARTEFACTS, Link
from governance.detection.lines import Line
from governance.detection.statistics import HOLD_AT
from governance.detection.streams import Recorded
from governance.detection.tasks import Mask

LINKED = "link"
LINK_LEVELS = {"digest": 1.0, "template": 1.0, "artefacts": float(EQUAL_ARTEFACTS), "tokens": CORRELATION}


@dataclass(frozen=True)
class GapFigures:
    """Success on public tasks less that on their held-out neighbours, over the public tasks that were run."""

    mean: float
    usual: float
    """The same over the harness lines of the version, or 0 where there are few."""
    error: float
    tasks: int
    lines: int

    @property
    def z(self) -> float:
        return (self.mean - self.usual) / self.error if self.error > 0 else 0.0


@dataclass(frozen=True)
class Raised:
    """An alarm as it is to be written; `line` is the harness line that it is about.

    A hold has the e-process as its statistic, and is named by a channel so that its vendor is told a rule.
    """

    line: Line
    submission: str
    channel: str
    kind: str
    statistic: float
    level: float


@dataclass(frozen=True)
class Looked:
    """What one observation found."""

    line: Line
    surprise: float
    """The submission's own e-value: above 1 it speaks against the honest model."""
    reviews: list[Alarm]
    """Everything that calibrated levels raised so far, this submission's and earlier ones'."""
    links: list[Link]
    gap: GapFigures | None
    memorised: Mask
    failed_once: Mask
    answered: Mask

    def raised(self) -> Iterator[Raised]:
        """Holds and signals of this submission; reviews stand apart, for they are written once a line."""
        line, this = self.line, self.line.submissions[-1]
        if line.state >= HOLD_AT and self.surprise > 1:
            yield Raised(line, this, channel_of_hold(line), "hold", line.state, HOLD_AT)
        if line.gains and line.gains[-1] > gain.BEYOND:
            yield Raised(line, this, gain.NAME, "signal", line.gains[-1], gain.BEYOND)
        if self.links:
            strongest = max(self.links, key=lambda link: link.strength / LINK_LEVELS[link.ground])
            yield Raised(line, this, LINKED, "signal", strongest.strength, LINK_LEVELS[strongest.ground])
        if self.gap and self.gap.z >= gap.LEVEL and self.gap.mean - self.gap.usual >= gap.LEAST:
            yield Raised(line, this, gap.NAME, "signal", self.gap.z, gap.LEVEL)


def channel_of_hold(line: Line) -> str:
    """The channel that a hold is named by: the one that weighs most, first among those that this submission adds to."""
    now = {
        name
        for name, found in line.evidence.items()
        if found and found[-1].submission == line.submissions[-1]
    }
    return max(sorted(line.totals), key=lambda name: (name in now, line.totals[name]))


def look(analysis: Analysis, new: Recorded) -> Looked:
    """Have the analysis take the submission."""
    known = len(analysis.linker.links)
    before = analysis.lines[new.account].state if new.account in analysis.lines else 1.0
    analysis.observe(new)
    line = analysis.lines[new.account]
    held_out = new.rows[: len(analysis.table)]
    return Looked(
        line=line,
        surprise=line.state / max(1.0, before),
        reviews=analysis.alarms,
        links=list(analysis.linker.links.values())[known:],
        gap=_gap(analysis, new),
        memorised=analysis.marked.memorised,
        failed_once=analysis.marked.failed_once,
        answered=held_out["runs"] > 0,
    )


def _gap(analysis: Analysis, new: Recorded) -> GapFigures | None:
    """None where no public task was run."""
    if not new.rows["runs"][analysis.matched.public].any():
        return None
    differences = analysis.matched.differences(new.rows)
    usual = gap.usual(list(analysis.gaps.values()))
    run = np.isfinite(differences)
    if (count := int(run.sum())) < 2:
        return None
    return GapFigures(
        mean=float(differences[run].mean()),
        usual=float(usual[run].mean()),
        error=float((differences - usual)[run].std(ddof=1) / np.sqrt(count)),
        tasks=count,
        lines=len(analysis.gaps),
    )
