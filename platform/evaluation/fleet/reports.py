"""What staff see of the fleet and of a run: hosts, leases, orders, and each episode that is not through or failed.

Episodes appear by their latest attempt's opaque id; no task, no score, nothing that an attempt wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Min, OuterRef, Q, Subquery

from evaluation.fleet.models import EpisodeQuarantine, FleetOrder
from evaluation.fleet.queries import standing_orders
from evaluation.hosts.queries import speed_shares
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, WorkerReport

HELD = (Episode.State.LEASED, Episode.State.GRADING)
SHOWN = 200
"""Rows of a table at most; the counts above it are of all."""


@dataclass(frozen=True)
class WorkerLine:
    """One worker: its report, how many episodes it holds, since when the oldest of them, and what was ordered."""

    report: WorkerReport
    leases: int
    oldest: datetime | None
    orders: list[FleetOrder]


@dataclass(frozen=True)
class HostLines:
    """`speed` is processor and disk against the reference, as text; None where they were not measured."""

    name: str
    speed: dict[str, str] | None
    orders: list[FleetOrder]
    workers: list[WorkerLine]


@dataclass(frozen=True)
class EpisodeLine:
    """An episode that is not through, or failed. `number` counts attempts; `since` is when it came to this step."""

    episode: Episode
    attempt: Attempt | None
    number: int
    since: datetime
    cause: str
    quarantine: EpisodeQuarantine | None


def hosts(reports: Iterable[WorkerReport]) -> list[HostLines]:
    """These workers by host, with what they hold."""
    rows = Episode.objects.filter(state__in=HELD).values("worker").annotate(n=Count("id"))
    begun = Q(tries__ended_at=None)
    held = {
        row["worker"]: (row["n"], row["oldest"])
        for row in rows.annotate(oldest=Min("tries__started_at", filter=begun))
    }
    orders = standing_orders()
    found: dict[str, list[WorkerLine]] = {}
    for report in reports:
        leases, oldest = held.get(report.worker, (0, None))
        line = WorkerLine(report, leases, oldest, _of(orders, FleetOrder.Scope.WORKER, report.worker))
        found.setdefault(report.host, []).append(line)
    shares = speed_shares()
    return [
        HostLines(name, _speed(shares.get(name)), _of(orders, FleetOrder.Scope.HOST, name), lines)
        for name, lines in sorted(found.items())
    ]


def _speed(shares: tuple[float, float] | None) -> dict[str, str] | None:
    return {"processor": f"{shares[0]:.2f}", "disk": f"{shares[1]:.2f}"} if shares else None


def _of(orders: list[FleetOrder], scope: str, name: str) -> list[FleetOrder]:
    return [order for order in orders if order.scope == scope and order.name == name]


def unfinished(run: EvaluationRun) -> list[EpisodeLine]:
    """Each episode of the run that is not graded, those that failed or are set apart first; `SHOWN` at most."""
    first = (Episode.State.UNAVAILABLE, Episode.State.QUARANTINED)
    rows = Episode.objects.filter(run=run).exclude(state=Episode.State.GRADED)
    failed = list(rows.filter(state__in=first).order_by("position")[:SHOWN])
    others = rows.exclude(state__in=first).order_by("-attempts", "position")
    shown = [*failed, *others[: SHOWN - len(failed)]]
    keys = [episode.pk for episode in shown]
    latest = {
        attempt.episode_id: attempt
        for attempt in Attempt.objects.filter(episode__in=keys).order_by("episode", "number")
    }
    apart = {
        row.episode_id: row for row in EpisodeQuarantine.objects.filter(episode__in=keys, lifted_at=None)
    }
    return [_line(run, episode, latest.get(episode.pk), apart.get(episode.pk)) for episode in shown]


def _line(
    run: EvaluationRun, episode: Episode, attempt: Attempt | None, apart: EpisodeQuarantine | None
) -> EpisodeLine:
    since = (attempt.ended_at or attempt.started_at) if attempt else run.created_at
    cause = attempt.cause if attempt else ""
    if (
        episode.state == Episode.State.UNAVAILABLE
        and attempt
        and attempt.ending != Ending.INFRASTRUCTURE_FAULT
    ):
        cause = "grading_failed"
    if apart is not None:
        since, cause = apart.ordered_at, apart.cause
    return EpisodeLine(episode, attempt, attempt.number if attempt else 0, since, cause, apart)


def attempts_of(run: EvaluationRun, most: int = SHOWN) -> list[Attempt]:
    """The latest attempts of a run that infrastructure took, or whose host counted something: newest first."""
    rows = Attempt.objects.filter(episode__run=run).exclude(cause="", signals={})
    return list(rows.order_by("-started_at")[:most])


def causes_of(run: EvaluationRun) -> list[tuple[str, str, int]]:
    """(ending, cause, attempts) of all ended attempts of a run, the most frequent first."""
    rows = Attempt.objects.filter(episode__run=run, ended_at__isnull=False).values_list("ending", "cause")
    return sorted(rows.annotate(n=Count("id")), key=lambda row: (-row[2], row[0], row[1]))


def failed_attempts(run: EvaluationRun) -> list[UUID]:
    """The latest attempt of each episode without a valid result that a re-run would repeat, by opaque id."""
    latest = Attempt.objects.filter(episode=OuterRef("pk")).order_by("-number").values("pk")[:1]
    rows = Episode.objects.filter(run=run, state=Episode.State.UNAVAILABLE)
    found = rows.annotate(latest=Subquery(latest)).values_list("latest", flat=True)
    return sorted(key for key in found if key is not None)
