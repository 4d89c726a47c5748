"""Alarms about work that nobody takes: raised and ended on a tick, each once, with its event and its notices."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from accounts.duties.queries import staff_now
from accounts.duties.table import Duty
from accounts.models import User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock
from evaluation.alerts import events
from evaluation.alerts.models import FleetAlert
from evaluation.alerts.queries import Waiting, waiting
from evaluation.fleet.models import Pause, Switch


def watch(*, by: Actor) -> None:
    """Raise an alarm for each queue whose oldest work waited too long; end those whose work is taken again."""
    for found in waiting():
        late = _is_late(found)
        with transaction.atomic():
            alert = FleetAlert.objects.select_for_update().filter(queue=found.queue, ended_at=None).first()
            if late and alert is None:
                _raise(found, by=by)
            elif alert is not None and not late:
                alert.ended_at = clock.now()
                alert.save(update_fields=["ended_at"])
                log.append(events.FleetAlertEnded(subject=alert.id, queue=alert.queue), by=by)


def _is_late(found: Waiting) -> bool:
    """Whether its oldest work waited too long; what staff paused waits from the end of the pause on."""
    if found.since is None:
        return False
    since = found.since
    if found.queue == "execute":
        pauses = Pause.objects.filter(switch=Switch.EXECUTION)
        if pauses.filter(lifted_at=None).exists():
            return False
        since = max(since, pauses.aggregate(at=Max("lifted_at"))["at"] or since)
    return clock.now() - since >= timedelta(seconds=settings.FLEET_ALERT_SECONDS)


def _raise(found: Waiting, *, by: Actor) -> None:
    """Evaluation engineers are told; where nobody holds that duty, administrators."""
    assert found.since is not None, "something waits"
    now = clock.now()
    alert, is_new = FleetAlert.objects.get_or_create(
        queue=found.queue, ended_at=None, defaults={"waiting_since": found.since, "raised_at": now}
    )
    if not is_new:
        return
    people = _holders(Duty.EVALUATION_ENGINEER) or _holders(Duty.ADMINISTRATOR)
    facts = {"queue": found.queue, "since": timestamp(found.since), "episodes": found.claimable}
    notify(people, Kind.FLEET_WAITING, subject=alert.id, facts=facts)
    event = events.FleetAlertRaised(
        subject=alert.id, queue=found.queue, waiting_since=timestamp(found.since), told=len(people)
    )
    log.append(event, by=by)


def _holders(duty: Duty) -> list[User]:
    return [person for person, duties in staff_now() if duty in duties]
