"""Making the trial calls that were asked for. Run where credentials may be opened."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import structlog
from django.db import transaction

from audit import log
from audit.events import Actor
from config import clock
from config.vault import SealBroken
from evaluation import events
from evaluation.upstreams import credentials, probe
from evaluation.upstreams.models import ModelUpstream, Outcome, UpstreamCredential, UpstreamTrial

logger = structlog.get_logger(__name__)

LOST_AFTER = timedelta(minutes=2)
"""A trial that nobody made by then is given up, so that another may be asked for."""


def make_trial(trial_id: UUID, *, by: Actor) -> None:
    """Call, and record what came of it; a second delivery of the same ticket does nothing but one more call."""
    trial = UpstreamTrial.objects.select_related("upstream").filter(pk=trial_id, ended_at=None).first()
    if trial is None:
        return
    end_trial(trial_id, probed(trial.upstream), by=by)


def probed(upstream: ModelUpstream) -> probe.Found:
    """What one small call finds; NOT_TRIED where the platform itself cannot make it."""
    row = UpstreamCredential.objects.filter(upstream=upstream).first()
    if row is None:
        return probe.Found(Outcome.NOT_TRIED)
    try:
        credential = credentials.opened(row)
    except SealBroken:
        logger.exception("upstream_credential_does_not_open", upstream=str(upstream.id))
        return probe.Found(Outcome.NOT_TRIED)
    call = probe.Call(upstream.dialect, upstream.base_url, upstream.snapshot, credential)
    return probe.try_out(call)


def end_trial(trial_id: UUID, found: probe.Found, *, by: Actor) -> None:
    """Record the outcome, once."""
    with transaction.atomic():
        trial = UpstreamTrial.objects.select_for_update().filter(pk=trial_id, ended_at=None).first()
        if trial is None:
            return
        trial.outcome, trial.milliseconds = found.outcome, found.milliseconds
        trial.ended_at = max(clock.now(), trial.asked_at)
        trial.save(update_fields=["outcome", "milliseconds", "ended_at"])
        event = events.UpstreamTried(
            subject=trial.upstream_id,
            trial=str(trial.id),
            outcome=found.outcome.value,
            milliseconds=found.milliseconds,
        )
        log.append(event, by=by)


def give_up_lost(*, by: Actor) -> None:
    """End the trials whose worker or ticket was lost."""
    lost = UpstreamTrial.objects.filter(ended_at=None, asked_at__lte=clock.now() - LOST_AFTER)
    for trial_id in list(lost.values_list("id", flat=True)):
        end_trial(trial_id, probe.Found(Outcome.NOT_TRIED), by=by)
