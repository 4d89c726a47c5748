"""Setting an episode apart: what staff order, and what the platform does with one that takes its workers down."""

from __future__ import annotations

from typing import Any

from django.db.models import F

from audit import log
from audit.events import Actor
from audit.texts import concealed
from config import clock
from evaluation.fleet import events
from evaluation.fleet.models import EpisodeQuarantine
from evaluation.models import Attempt, Episode


def set_apart(episode: Episode, *, cause: str, reason: str, by: Actor) -> EpisodeQuarantine:
    """Put a locked episode, which nobody holds, into quarantine; call inside a transaction."""
    Episode.objects.filter(pk=episode.pk).update(
        state=Episode.State.QUARANTINED, fence=F("fence") + 1, lease_until=None
    )
    latest = Attempt.objects.filter(episode=episode).order_by("-number").first()
    row = EpisodeQuarantine.objects.create(
        episode=episode, attempt=latest, cause=cause, **ordered(reason, by)
    )
    event = events.EpisodeQuarantined(
        subject=row.id,
        run=str(episode.run_id),
        attempt=str(latest.id) if latest else None,
        cause=str(cause),
        reason=concealed(row.reason),
    )
    log.append(event, by=by)
    return row


def ordered(reason: str, by: Actor) -> dict[str, Any]:
    """Who gives an order, when and why."""
    return {"ordered_by": by.id, "ordered_at": clock.now(), "reason": reason.strip()}
