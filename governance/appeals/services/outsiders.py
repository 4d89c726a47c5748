"""Arbiters from outside the operator: two administrators say so, on a signed declaration of interests."""

from __future__ import annotations

import re

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Decision, Duty
from accounts.models import User
from audit import log
from audit.events import Actor
from config import clock
from governance.appeals import events
from governance.appeals.models import OutsideArbiter

_DIGEST = re.compile(r"[0-9a-f]{64}")


def name_outside(person: User, *, declaration: str, proposed: Actor, confirmed: Actor) -> OutsideArbiter:
    """Name an arbiter who is from outside; `declaration` is the SHA-256 of what they signed.

    Again, where it was ended, it begins anew. Raises DutyRefused where these two may not give duties, and ValueError
    for a person who is no arbiter or a declaration that is no digest.
    """
    if not _DIGEST.fullmatch(declaration):
        raise ValueError("a declaration is named by its SHA-256, 64 lower-case hexadecimal digits")
    if Duty.ARBITER not in duties.duties_of(person):
        raise ValueError("only who holds the duty of an arbiter is named one from outside")
    duties.require(Decision.DUTY, proposed=proposed, approved=confirmed)
    if str(person.pseudonym) in (proposed.id, confirmed.id):
        raise DutyRefused(Reason.OWN)
    with transaction.atomic():
        row, _ = OutsideArbiter.objects.update_or_create(
            person=person,
            defaults={
                "declaration": declaration,
                "named_by": User.objects.get(pseudonym=proposed.id),
                "confirmed_by": User.objects.get(pseudonym=confirmed.id),
                "named_at": clock.now(),
                "ended_at": None,
            },
        )
        event = events.OutsiderNamed(
            subject=person.pseudonym,
            declaration=declaration,
            named_by=proposed.id,
            confirmed_by=confirmed.id,
        )
        log.append(event, by=confirmed)
    return row


def end_outside(person: User, *, by: Actor) -> None:
    """From now on they are none, an administrator says. Ending what is ended changes nothing. Raises DutyRefused."""
    if Duty.ADMINISTRATOR not in duties.standing(by).duties:
        raise DutyRefused(Reason.NOT_ADMINISTRATOR)
    with transaction.atomic():
        row = OutsideArbiter.objects.select_for_update().filter(person=person, ended_at=None).first()
        if row is not None:
            row.ended_at = clock.now()
            row.save(update_fields=["ended_at"])
            log.append(events.OutsiderEnded(subject=person.pseudonym), by=by)
