"""What an alarm rests on, for reviewers and for an appeal: made by sealed workers, read in the console.

It names tasks. Nothing of it goes to a vendor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from governance.detection.analysis import Analysis
from governance.detection.channels import gain, timing
from governance.detection.contrasts import contrast, lasting
from governance.detection.lines import WHOLE_LIFE, Line
from governance.detection.tasks import TaskTable
from governance.watch.models import Alarm, AlarmEvidence

PAIRS = 12
"""So many of the latest pairs of a line are drawn."""
SAME, CHANGED, ASKED, APART = "0123"
"""Cells of a strip: behaves as before; changed; changed as a gate changes it, unexplained; not to be compared."""


@dataclass(frozen=True)
class FindingShown:
    """One finding of one submission. `tasks` are ids of task revisions."""

    submission: str
    p: float
    explanation: float
    """Best F1 over unions of metadata groups: from 0.6 on metadata explains the set."""
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Segment:
    """Neighbouring tasks of a strip that share these."""

    domain: str
    category: str
    operation: str
    length: int


@dataclass(frozen=True)
class Strip:
    """A pair of submissions of one line: a cell for each held-out task, in the order of the segments."""

    before: str
    after: str
    cells: str
    explanation: float
    by: str
    """The kind of metadata that explains most of it; empty where none does anything."""


@dataclass(frozen=True)
class GainShown:
    """Difference of mean success to the submission before, with its standard error: outside ±3 is beyond the noise."""

    submission: str
    difference: float
    error: float


@dataclass(frozen=True)
class Moment:
    """When a submission was sent."""

    submission: str
    at: str


@dataclass(frozen=True)
class LinkShown:
    """Two lineages and what joins them."""

    one: str
    other: str
    ground: str
    strength: float


@dataclass(frozen=True)
class EvidenceShown:
    """Everything about one alarm. `prompt` is P(so many submissions as soon as the cooldown ended)."""

    findings: tuple[FindingShown, ...]
    segments: tuple[Segment, ...]
    strips: tuple[Strip, ...]
    gains: tuple[GainShown, ...]
    timeline: tuple[Moment, ...]
    links: tuple[LinkShown, ...]
    dips: tuple[int, ...]
    """Of channels that look at a line's whole life: tasks failed for once, submission by submission."""
    echoes: tuple[int, ...]
    prompt: float
    gap: Mapping[str, float]


def make(
    analysis: Analysis, line: Line, channel: str, gap: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Plain data for one alarm about this line, as of now."""
    order = _order(analysis.table)
    return {
        "findings": list(_findings(analysis.table, line, channel)),
        "segments": [
            [*place, len(list(group))]
            for place, group in groupby(_places(analysis.table, order), key=lambda place: place)
        ],
        "strips": list(_strips(analysis, line, order)),
        "gains": list(_gains(analysis, line)),
        "timeline": [
            [submission, sent.isoformat()]
            for submission, sent in zip(line.submissions, line.sent, strict=True)
        ],
        "links": [
            [link.one, link.other, link.ground, round(link.strength, 4)]
            for link in analysis.linker.links.values()
            if line.organisation in (link.one, link.other)
        ],
        "dips": [int(one.tasks.sum()) for one in line.spoilt] if channel in WHOLE_LIFE else [],
        "echoes": [int(one.tasks.sum()) for one in line.echoes] if channel in WHOLE_LIFE else [],
        "prompt": round(timing.tail(line.sent, timing.COOLDOWN), 6),
        "gap": dict(gap or {}),
    }


def read(content: Mapping[str, Any]) -> EvidenceShown:
    """What `make` wrote; parts that are missing are empty."""
    return EvidenceShown(
        findings=tuple(
            FindingShown(row["submission"], row["p"], row["explanation"], tuple(row["tasks"]))
            for row in content.get("findings", [])
        ),
        segments=tuple(Segment(*row) for row in content.get("segments", [])),
        strips=tuple(Strip(**row) for row in content.get("strips", [])),
        gains=tuple(GainShown(*row) for row in content.get("gains", [])),
        timeline=tuple(Moment(*row) for row in content.get("timeline", [])),
        links=tuple(LinkShown(*row) for row in content.get("links", [])),
        dips=tuple(content.get("dips", [])),
        echoes=tuple(content.get("echoes", [])),
        prompt=content.get("prompt", 1.0),
        gap=content.get("gap", {}),
    )


def of_alarm(alarm: Alarm) -> EvidenceShown:
    """What the alarm rests on. Raises AlarmEvidence.DoesNotExist where the process may not know, or nothing is kept."""
    return read(AlarmEvidence.objects.get(alarm=alarm).content)


def _order(table: TaskTable) -> list[int]:
    """Places of the held-out tasks with like metadata side by side."""
    tasks = table.tasks
    return sorted(
        range(len(tasks)),
        key=lambda at: (tasks[at].domain, tasks[at].category, tasks[at].operation, tasks[at].tier, at),
    )


def _places(table: TaskTable, order: list[int]) -> Iterator[tuple[str, str, str]]:
    for at in order:
        task = table.tasks[at]
        yield task.domain, task.category, task.operation


def _findings(table: TaskTable, line: Line, channel: str) -> Iterator[dict[str, Any]]:
    """Of the channel; of all channels where it counts them together, or has none of its own."""
    kept = [line.evidence[channel]] if line.evidence.get(channel) else list(line.evidence.values())
    for one in (finding for found in kept for finding in found):
        yield {
            "submission": one.submission,
            "p": float(f"{one.finding.p:.3g}"),
            "explanation": round(one.finding.explanation, 3),
            "tasks": [table.ids[place] for place in np.flatnonzero(one.finding.tasks)],
        }


def _strips(analysis: Analysis, line: Line, order: list[int]) -> Iterator[dict[str, Any]]:
    history = analysis.store.take(line.places)[:, : len(analysis.table)]
    for at in range(max(1, len(history) - PAIRS), len(history)):
        seen = history[: at + 1]
        found = contrast(seen[-2], seen[-1], analysis.table, lasting(seen["artefact"]))
        cells = np.full(len(analysis.table), SAME)
        cells[found.changed] = CHANGED
        cells[found.unexplained] = ASKED
        cells[~found.comparable & ~found.changed] = APART
        yield {
            "before": line.submissions[at - 1],
            "after": line.submissions[at],
            "cells": "".join(cells[order]),
            "explanation": round(found.explanation.score, 3),
            "by": found.explanation.by,
        }


def _gains(analysis: Analysis, line: Line) -> Iterator[list[Any]]:
    history = analysis.store.take(line.places)[:, : len(analysis.table)]
    for at in range(1, len(history)):
        difference, error = gain.difference(history[at - 1], history[at])
        yield [line.submissions[at], round(difference, 6), round(error, 6)]
