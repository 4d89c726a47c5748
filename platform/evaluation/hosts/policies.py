"""What a host may run: pure rules over its self-test and its speed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings

ENOUGH = 0.9
"""Of the reference: below that a time budget is not the budget that others had."""


class SpeedClass(StrEnum):
    """What stands on every attempt, and on the result card as the set of a whole run."""

    OWN_REFERENCE = "own reference"
    REFERENCE = "reference"
    BELOW_REFERENCE = "below reference"
    NOT_MEASURED = "not measured"


class Refusal(StrEnum):
    """Why a worker takes no held-out work."""

    SELF_TEST = "self_test_failed"
    SLOW = "host_below_reference"
    UNMEASURED = "host_not_measured"


@dataclass(frozen=True)
class Speed:
    """Rounds of the fixed computation and MiB of flushed writes, each in a second."""

    processor: float
    disk: float


def reference() -> Speed | None:
    """What hosts are compared with, by the settings; None where each is its own reference."""
    processor, disk = settings.SPEED_REFERENCE_PROCESSOR, settings.SPEED_REFERENCE_DISK
    return Speed(processor, disk) if processor and disk else None


def share_of(measured: Speed, reference: Speed | None) -> tuple[float, float]:
    """(processor, disk) as shares of the reference; without one the host is its own."""
    if reference is None:
        return 1.0, 1.0
    return measured.processor / reference.processor, measured.disk / reference.disk


def class_of(measured: Speed | None, reference: Speed | None) -> SpeedClass:
    """The class of a host. One that is its own reference needs no measurement for that."""
    if reference is None:
        return SpeedClass.OWN_REFERENCE
    if measured is None:
        return SpeedClass.NOT_MEASURED
    return (
        SpeedClass.REFERENCE if min(share_of(measured, reference)) >= ENOUGH else SpeedClass.BELOW_REFERENCE
    )


def refusals(*, fit: bool, speed: SpeedClass) -> tuple[Refusal, ...]:
    """Why no held-out work may run there; empty where it may."""
    found = [] if fit else [Refusal.SELF_TEST]
    if speed is SpeedClass.BELOW_REFERENCE:
        found.append(Refusal.SLOW)
    if speed is SpeedClass.NOT_MEASURED:
        found.append(Refusal.UNMEASURED)
    return tuple(found)
