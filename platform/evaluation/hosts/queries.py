"""Reads about hosts: what they counted of attempts (staff only), and what a whole run got (its vendor may see that)."""

from __future__ import annotations

from uuid import UUID

from evaluation.hosts import policies
from evaluation.hosts.models import HostSpeed
from evaluation.models import Attempt


def counted_attempts(limit: int = 50) -> list[Attempt]:
    """The latest ended attempts of which the host counted something, newest first; `signals` holds what.

    For staff pages only: each row is one try at one task.
    """
    rows = Attempt.objects.exclude(signals={}).filter(ended_at__isnull=False).select_related("episode__run")
    return list(rows.order_by("-ended_at")[:limit])


def conditions_of(run_id: UUID) -> tuple[list[str], list[str]]:
    """(isolation grades, speed classes) of all hosts that ran the run's valid attempts, each once, sorted."""
    rows = Attempt.objects.filter(episode__run_id=run_id).exclude(artefact_key="")
    grades = rows.exclude(isolation="").values_list("isolation", flat=True).distinct()
    classes = rows.exclude(speed_class="").values_list("speed_class", flat=True).distinct()
    return sorted(grades), sorted(classes)


def speed_shares() -> dict[str, tuple[float, float]]:
    """(processor, disk) of every measured host as shares of the reference, by its identity."""
    wanted = policies.reference()
    return {
        row.host: policies.share_of(policies.Speed(row.processor, row.disk), wanted)
        for row in HostSpeed.objects.all()
    }
