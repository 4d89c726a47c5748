"""One incremental analysis for each finished submission: the same code for what comes in and for what is replayed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from governance.detection.behaviour import Rows, Store
from governance.detection.channels import cheap, dips, echo, focus, gain, gap, jumps, linking, subset, toggle
from governance.detection.channels import contrast as small
from governance.detection.contrasts import DENSE, Contrast, contrast, lasting
from governance.detection.exposure import Exposure
from governance.detection.findings import Finding
from governance.detection.levels import NEEDS_RUNS, Levels
from governance.detection.lines import WHOLE_LIFE, Group, Line
from governance.detection.statistics import HOLD_AT
from governance.detection.streams import Recorded
from governance.detection.tasks import Mask, TaskTable

JOINED_PART = 1.0
"""What an account of a joined lineage must add itself: a finding of one in a hundred."""


@dataclass(frozen=True)
class Alarm:
    """A lineage reached a level and this account had a part in it; people decide what follows."""

    account: str
    organisation: str
    channel: str
    submission: str
    statistic: float
    level: float
    hold: bool


@dataclass
class Marks:
    """Tasks that one submission solved as from memory, and those that it failed for once, right about little."""

    memorised: Mask
    failed_once: Mask

    @classmethod
    def none(cls, tasks: int) -> Marks:
        return cls(np.zeros(tasks, dtype=bool), np.zeros(tasks, dtype=bool))


class Analysis:
    """Everything the detectors know of one bank; `observe` takes submissions in time order."""

    def __init__(self, table: TaskTable, levels: Levels) -> None:
        self.table = table.held_out_table
        self.levels = levels
        self.store = Store(len(table))
        self.lines: dict[str, Line] = {}
        self.groups: dict[str, Group] = {}
        self.alarms: list[Alarm] = []
        self.exposure = Exposure(self.table)
        self.linker = linking.Linker(len(self.table))
        self.matched = gap.Matched(table)
        self.gaps: dict[str, list[npt.NDArray[np.float64]]] = {}
        self.peaks: dict[tuple[str, str], float] = {}
        """The largest statistic of each organisation's group and channel: what calibration looks at."""
        self.marked = Marks.none(len(self.table))
        """What the latest submission was marked with."""
        self._held_out = table.held_out
        self._flagged: set[tuple[str, str]] = set()
        self._solved: dict[str, npt.NDArray[np.float64]] = {}
        self._solved_by_all = np.zeros(len(self.table))

    def observe(self, new: Recorded) -> list[Alarm]:
        """Take one finished submission; the alarms it raised."""
        line = self._line(new)
        history = self.store.take(line.places)[:, self._held_out]
        rows = history[-1]
        self.marked = Marks.none(len(rows))
        alone = subset.judge(rows, self.table)
        if len(history) == 1:
            line.add([alone])
            whole = np.ones(len(self.table), dtype=bool)
            self.exposure.release(line.organisation, whole, alone.tasks)
        else:
            self._compare(history, line, alone)
        self._count(new.organisation, rows)
        if new.rows["runs"][self.matched.public].any():
            self.gaps.setdefault(new.account, []).append(self.matched.differences(new.rows))
        for link in self.linker.observe(new.organisation, new.digest, new.base_model, rows):
            self._join(link)
        return self._raise(self.groups[new.organisation])

    def alarmed(self) -> set[str]:
        """Organisations of accounts in alarm."""
        return {alarm.organisation for alarm in self.alarms}

    def _line(self, new: Recorded) -> Line:
        place = self.store.append(new.rows)
        group = self.groups.setdefault(new.organisation, Group({new.organisation}))
        if new.account not in self.lines:
            self.lines[new.account] = Line(new.account, new.organisation)
            group.lines.append(self.lines[new.account])
        line = self.lines[new.account]
        line.places.append(place)
        line.submissions.append(new.id)
        line.sent.append(new.submitted_at)
        return line

    def _compare(self, history: Rows, line: Line, alone: Finding) -> None:
        found = contrast(history[-2], history[-1], self.table, lasting(history["artefact"]))
        line.gains.append(gain.z(history[-2], history[-1]))
        known = cheap.judge(found)
        findings = [alone, small.judge(found), toggle.judge(found, history), known]
        if known.excess > 0:
            self.exposure.remember(line.organisation, known.tasks)
            self.marked.memorised |= known.tasks
        if line.last is not None:
            findings += self._look_back(history, (line.last, found), line)
        line.add(findings)
        line.last = found
        dense = found.density >= DENSE
        changed = np.ones(len(self.table), dtype=bool) if dense else found.changed
        # A harness that answers chosen tasks asks about exactly those.
        asked = alone.tasks if alone.excess > 0 else found.unexplained
        self.exposure.release(line.organisation, changed, asked)

    def _look_back(self, history: Rows, last: tuple[Contrast, Contrast], line: Line) -> list[Finding]:
        """What only the submission after can show."""
        runs = int(history["runs"][-1][0])
        if runs >= NEEDS_RUNS[echo.NAME]:
            line.echoes.append(echo.echoes(history, self.table))
        if runs >= NEEDS_RUNS[focus.NAME]:
            line.spoilt.append(focus.dips(history, self.table))
            if dips.sparse(last):
                self.marked.failed_once |= line.spoilt[-1].worthless()
                self.exposure.suspect(line.organisation, self.marked.failed_once)
        line.look_at_dips()
        difficulty = self._difficulty(line.organisation)
        return [dips.judge(history, last, self.table), jumps.judge(history, difficulty, self.table)]

    def _difficulty(self, organisation: str) -> npt.NDArray[np.float64]:
        """Log-odds of success of each task over the latest submissions of other organisations."""
        own = self._solved.get(organisation)
        total = self._solved_by_all - (0.0 if own is None else own)
        others = len(self._solved) - (own is not None)
        return np.asarray(np.log((total + 0.5) / (others - total + 0.5)))

    def _count(self, organisation: str, rows: Rows) -> None:
        """Keep the running sum of every organisation's latest success."""
        rate = rows["successes"] / np.maximum(1, rows["runs"])
        self._solved_by_all += rate - self._solved.get(organisation, 0.0)
        self._solved[organisation] = rate

    def _join(self, link: linking.Link) -> None:
        one, other = self.groups[link.one], self.groups[link.other]
        if one is other:
            return
        joined = Group(
            one.organisations | other.organisations, one.lines + other.lines, one.alarms | other.alarms
        )
        for name in joined.organisations:
            self.groups[name] = joined

    def _raise(self, group: Group) -> list[Alarm]:
        """Alarms of every account that has a part of its own in a channel above its level."""
        raised = []
        for channel, level in self.levels.levels.items():
            statistic = group.statistic(channel)
            for name in group.organisations:
                self.peaks[name, channel] = max(self.peaks.get((name, channel), 0.0), statistic)
            if statistic >= level:
                group.alarms.add(channel)
            if channel not in group.alarms:
                continue
            for line in group.lines:
                if (line.account, channel) in self._flagged or not _has_part(line, channel, level, group):
                    continue
                self._flagged.add((line.account, channel))
                hold = line.highest >= HOLD_AT
                raised.append(
                    Alarm(
                        line.account, line.organisation, channel, line.submissions[-1], statistic, level, hold
                    )
                )
        self.alarms.extend(raised)
        return raised


def _has_part(line: Line, channel: str, level: float, group: Group) -> bool:
    """Joining is not blaming: an account is flagged for what it did itself, and more so where others were joined."""
    own = line.totals.get(channel, 0.0)
    if channel in WHOLE_LIFE:
        return own >= level
    return own >= JOINED_PART if len(group.organisations) > 1 else own > 0
