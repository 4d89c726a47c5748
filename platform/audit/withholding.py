"""Entries that pages and exports show by their leaf hash only. The log itself keeps them: nothing is ever taken out."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from audit import log
from audit.events import Actor
from audit.explore import AUDITOR
from audit.log_events import EntryWithheld
from audit.models import Entry, EventRecord, Withholding
from config import clock


class WithholdingRefused(ValueError):
    """It is not withheld: the text says why."""


def withhold(position: int, reason: str, *, asked: Actor, agreed: Actor) -> Withholding:
    """Withhold the entry at `position` for one of `Withholding.Reason`, by order of two different people.

    Raises WithholdingRefused.
    """
    if asked.kind != "person" or agreed.kind != "person" or asked.id == agreed.id:
        raise WithholdingRefused("it takes two different people")
    if reason not in Withholding.Reason.values:
        raise WithholdingRefused(f"the reason is one of {', '.join(Withholding.Reason.values)}")
    try:
        with transaction.atomic():
            _require_other_kind(position)
            row = Withholding.objects.create(
                position=position, reason=reason, asked_by=asked.id, agreed_by=agreed.id, at=clock.now()
            )
            event = EntryWithheld(
                subject=str(position), reason=reason, asked_by=asked.id, agreed_by=agreed.id
            )
            log.append(event, by=asked)
    except IntegrityError as error:
        raise WithholdingRefused("it is withheld already") from error
    return row


def _require_other_kind(position: int) -> None:
    """The entries that say what is withheld stay readable: without them nobody could tell why others are missing."""
    event = Entry.objects.filter(position=position).values_list("event_id", flat=True).first()
    if event is None:
        raise WithholdingRefused(f"the log has no entry {position}")
    if EventRecord.objects.using(AUDITOR).filter(id=event, kind=EntryWithheld.kind).exists():
        raise WithholdingRefused("an entry that says what is withheld is not withheld itself")
