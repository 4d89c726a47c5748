"""Audit event kinds of alarms about the fleet. They name a queue and instants, nobody's work."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class FleetAlertRaised(Event):
    """`told` counts the people who were told."""

    kind: ClassVar[str] = "fleet_alert.raised"
    subject_type: ClassVar[str] = "fleet_alert"
    sentence = _("Work of the queue {queue} had waited since {waiting_since}; {told} people were told.")
    queue: str
    waiting_since: str
    told: int


class FleetAlertEnded(Event):
    kind: ClassVar[str] = "fleet_alert.ended"
    subject_type: ClassVar[str] = "fleet_alert"
    sentence = _("Work of the queue {queue} is taken again.")
    queue: str
