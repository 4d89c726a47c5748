"""Reads about audit rooms."""

from __future__ import annotations

from uuid import UUID

from django.db.models import F, Q

from accounts.models import AuditorTerm
from accounts.rooms.models import AuditRoom
from config import clock


def rooms_for_staff() -> list[AuditRoom]:
    """Proposals first, then open ones, then those that are over, newest first."""
    rows = AuditRoom.objects.select_related(
        "term__person", "term__organisation__organisation", "proposed_by", "opened_by"
    )
    return sorted(rows.order_by("-proposed_at"), key=lambda row: (row.is_over, row.opened_at is not None))


def room(which: UUID) -> AuditRoom | None:
    return AuditRoom.objects.select_related("term__person", "proposed_by").filter(pk=which).first()


def rooms_of(term: AuditorTerm) -> list[AuditRoom]:
    """The rooms that were opened for this auditor, open ones first."""
    rows = AuditRoom.objects.filter(term=term, opened_at__isnull=False).order_by("-opened_at")
    return sorted(rows, key=lambda row: row.is_over)


def open_room_of(term: AuditorTerm, which: UUID) -> AuditRoom | None:
    """The room, if it is this auditor's and open at this moment."""
    now = clock.now()
    rows = AuditRoom.objects.filter(Q(ended_at=None), term=term, pk=which, opened_at__lte=now)
    return rows.filter(closes_at__gt=now).first()


def running_terms() -> list[AuditorTerm]:
    """Auditors for whom a room can be proposed today."""
    now = clock.now()
    rows = AuditorTerm.objects.select_related("person", "organisation__organisation")
    return list(
        rows.filter(ended_at=None, begins_at__lte=now, ends_at__gt=now).order_by(F("begins_at").desc())
    )
