"""Audit event kinds of orders to the fleet. `reason` is concealed; nothing in them names a task."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class SwitchPaused(Event):
    kind: ClassVar[str] = "switch.paused"
    subject_type: ClassVar[str] = "pause"
    sentence = _("{actor} paused {switch} (order {subject}).")
    switch: str
    reason: str


class SwitchResumed(Event):
    kind: ClassVar[str] = "switch.resumed"
    subject_type: ClassVar[str] = "pause"
    sentence = _("{actor} resumed {switch} (order {subject}).")
    switch: str
    reason: str


class FleetOrdered(Event):
    kind: ClassVar[str] = "fleet.ordered"
    subject_type: ClassVar[str] = "fleet order"
    sentence = _("{actor} ordered that the {scope} {name} takes no work: {order} (order {subject}).")
    order: str
    scope: str
    name: str
    reason: str


class FleetOrderLifted(Event):
    kind: ClassVar[str] = "fleet.order_lifted"
    subject_type: ClassVar[str] = "fleet order"
    sentence = _("{actor} lifted the order {subject} on the {scope} {name}: {order}.")
    order: str
    scope: str
    name: str
    reason: str


class EpisodeQuarantined(Event):
    """`attempt` is the opaque id of its latest attempt; an episode that was never tried has none."""

    kind: ClassVar[str] = "episode.quarantined"
    subject_type: ClassVar[str] = "quarantine"
    sentence = _("{actor} put an episode of the run {run} into quarantine ({cause}).")
    run: str
    attempt: str | None = None
    cause: str
    reason: str


class EpisodeReleased(Event):
    kind: ClassVar[str] = "episode.released"
    subject_type: ClassVar[str] = "quarantine"
    sentence = _("{actor} released an episode of the run {run} from quarantine.")
    run: str
    attempt: str | None = None
    reason: str
