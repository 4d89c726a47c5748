"""How an offer of a re-run moves, how long it stands, and when a submission may take it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from submissions.problems.codes import Code
from submissions.problems.refusal import NoDate, Refusal

STANDS: Final = timedelta(days=90)
"""How long a re-run is offered."""

MOVES: Final[dict[str, tuple[str, ...]]] = {"open": ("used", "expired", "withdrawn"), "used": ("open",)}
"""A used one opens again where its submission got the use back."""

KEEPS: Final = frozenset({Code.NOTHING_REPORTED})
"""Causes that return a use and leave the offer used: the re-run took place, and a rule kept its values back."""


@dataclass(frozen=True)
class OfferFacts:
    """An offer beside the order that names it."""

    state: str
    expires_at: datetime
    same_task_set: bool
    same_version: bool
    same_package: bool
    """True too where somebody asks before there is a package."""


def reopened_until(expires_at: datetime, used_at: datetime, now: datetime) -> datetime:
    """When an offer that opens again expires: the time that it was used for does not count."""
    return expires_at + max(now - used_at, timedelta(0))


def refusal(offer: OfferFacts, now: datetime) -> Refusal | None:
    """Why this order may not take the offer; None where it may."""
    if offer.state == "used":
        return Refusal(Code.RERUN_USED, next_allowed_reason=NoDate.NEXT_VERSION)
    if offer.state != "open" or offer.expires_at <= now:
        return Refusal(Code.RERUN_OVER, next_allowed_reason=NoDate.NEXT_VERSION)
    if not (offer.same_task_set and offer.same_version):
        return Refusal(Code.RERUN_OTHER_COMBINATION)
    return None if offer.same_package else Refusal(Code.RERUN_OTHER_PACKAGE)
