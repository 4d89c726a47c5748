"""What an alarm rests on, as the case page shows it: pictures with a table beside each, and tasks as counts by domain.

Read from the kept evidence; a part that is missing is not drawn. Task ids stay apart, for governors only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from benchmark.models import TaskRevision
from governance.desk import charts
from governance.watch.models import Alarm, AlarmEvidence
from submissions.models import Submission

SAME, CHANGED, ASKED, APART = "0123"
EXPLAINED = 0.6
"""From this best F1 on, metadata explains a changed set."""
NOISE = 3.0
"""Standard errors beyond which a gain lies outside the noise band: a look, never an accusation."""


@dataclass(frozen=True)
class StripShown:
    """One pair of submissions: the picture, and by domain (changed, unexplained, not comparable, all)."""

    before: str
    after: str
    picture: str
    counts: list[tuple[str, int, int, int, int]]
    explanation: float
    by: str

    @property
    def is_explained(self) -> bool:
        return self.explanation >= EXPLAINED


@dataclass(frozen=True)
class GainShown:
    """In points, with the half width of the noise band."""

    version: str
    difference: float
    band: float

    @property
    def is_beyond(self) -> bool:
        return abs(self.difference) > self.band


@dataclass(frozen=True)
class SentShown:
    """A submission and how long after the line's cooldown it came, in hours; None where no cooldown had run."""

    version: str
    at: datetime
    hours: float | None


@dataclass(frozen=True)
class Shown:
    """Everything drawn of one alarm."""

    alarm: Alarm
    strips: list[StripShown]
    gains: list[GainShown]
    gain_picture: str
    sent: list[SentShown]
    timeline_picture: str
    links: list[tuple[str, str, str, float]]
    tasks: list[tuple[str, int]]
    """Tasks of the findings, counted by domain."""
    slugs: list[str]


def shown(alarm: Alarm) -> Shown | None:
    """The evidence of the alarm; None where nothing is kept. Whoever shows it has appended the event before."""
    row = AlarmEvidence.objects.filter(alarm=alarm).first()
    if row is None:
        return None
    content: Mapping[str, Any] = row.content
    names = _versions(content)
    gains = [
        GainShown(names.get(name, name), 100 * float(difference), 100 * NOISE * float(error))
        for name, difference, error in content.get("gains", [])
    ]
    sent = _sent(content, names)
    tasks, slugs = _tasks(content)
    return Shown(
        alarm=alarm,
        strips=[
            _strip(content, one, names, f"{alarm.pk}-{at}")
            for at, one in enumerate(content.get("strips", []))
        ],
        gains=gains,
        gain_picture=charts.gains([(row.version, row.difference, row.band) for row in gains], str(alarm.pk)),
        sent=sent,
        timeline_picture=charts.timeline(
            [(one.version, one.at) for one in sent], _expiries(content), str(alarm.pk)
        ),
        links=[
            (one, other, ground, float(strength)) for one, other, ground, strength in content.get("links", [])
        ],
        tasks=tasks,
        slugs=slugs,
    )


def tasks_of(alarm: Alarm) -> list[UUID]:
    """Ids of the tasks that the findings of an alarm name, each once."""
    row = AlarmEvidence.objects.filter(alarm=alarm).first()
    found = (task for one in (row.content if row else {}).get("findings", []) for task in one["tasks"])
    return [UUID(task) for task in dict.fromkeys(found)]


def _named(content: Mapping[str, Any]) -> list[str]:
    return [name for name, _at in content.get("timeline", [])]


def _versions(content: Mapping[str, Any]) -> dict[str, str]:
    rows = Submission.objects.filter(pk__in=_named(content)).values_list("id", "harness_version__version")
    return {str(key): version for key, version in rows}


def _strip(
    content: Mapping[str, Any], one: Mapping[str, Any], names: Mapping[str, str], name: str
) -> StripShown:
    segments: Sequence[Sequence[Any]] = content.get("segments", [])
    counts: dict[str, Counter[str]] = {}
    at = 0
    for domain, _category, _operation, length in segments:
        counts.setdefault(domain, Counter()).update(one["cells"][at : at + length])
        at += length
    before, after = (names.get(one[end], one[end]) for end in ("before", "after"))
    spans = [(domain, sum(found.values())) for domain, found in counts.items()]
    return StripShown(
        before=before,
        after=after,
        picture=charts.strip(one["cells"], spans, title=f"{before} → {after}", name=name),
        counts=[
            (domain, found[CHANGED] + found[ASKED], found[ASKED], found[APART], sum(found.values()))
            for domain, found in counts.items()
        ],
        explanation=float(one["explanation"]),
        by=str(one.get("by", "")),
    )


def _sent(content: Mapping[str, Any], names: Mapping[str, str]) -> list[SentShown]:
    found: list[SentShown] = []
    last: datetime | None = None
    ends = {str(key): end for key, end in _cooldowns(content)}
    for name, text in content.get("timeline", []):
        at = datetime.fromisoformat(text)
        hours = (at - last).total_seconds() / 3600 if last is not None else None
        found.append(SentShown(names.get(name, name), at, hours))
        last = ends.get(name)
    return found


def _cooldowns(content: Mapping[str, Any]) -> list[tuple[UUID, datetime | None]]:
    rows = Submission.objects.filter(pk__in=_named(content))
    return list(rows.values_list("id", "cooldown_until"))


def _expiries(content: Mapping[str, Any]) -> list[datetime]:
    return sorted(end for _key, end in _cooldowns(content) if end is not None)


def _tasks(content: Mapping[str, Any]) -> tuple[list[tuple[str, int]], list[str]]:
    ids = {task for one in content.get("findings", []) for task in one["tasks"]}
    rows = list(
        TaskRevision.objects.filter(pk__in=ids).values_list("domain", "slug").order_by("domain", "slug")
    )
    return sorted(Counter(domain for domain, _slug in rows).items()), [slug for _domain, slug in rows]
