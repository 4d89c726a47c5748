"""What happens to an invitation once it exists: it is withdrawn, or forgotten with the person it was meant for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from django.db.models import QuerySet

from accounts import events
from accounts.members.models import Invitation
from audit import log
from audit.events import Actor
from config import clock


def digest_of(secret: str) -> str:
    """What is stored of a link's secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def unfinished() -> QuerySet[Invitation]:
    """Neither accepted nor withdrawn; some may have expired."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None)


def withdraw(rows: Iterable[Invitation], *, by: Actor) -> None:
    """Inside the caller's transaction, for locked rows that are unfinished: no longer valid, address forgotten."""
    for row in rows:
        row.revoked_at, row.address = clock.now(), ""
        row.save(update_fields=["revoked_at", "address"])
        log.append(events.InvitationRevoked(subject=row.id), by=by)


def forget_addresses(addresses: Iterable[str], *, by: Actor) -> None:
    """Inside the caller's transaction: no invitation names these addresses any more."""
    for address in addresses:
        withdraw(unfinished().filter(address__iexact=address).select_for_update(), by=by)
