"""A room: whose, about which submission, for how long, and the two people behind it."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import F, Q

from accounts.duties.models import person_column
from accounts.terms import AuditorTerm
from config import clock
from config.ids import new_id

LONGEST_HOURS = 168


class AuditRoom(models.Model):
    """Proposed by a governor, open once an administrator has opened it, until `closes_at` or until it is ended.

    The submission has no foreign key: submissions live above accounts.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    term = models.ForeignKey(AuditorTerm, on_delete=models.PROTECT, related_name="rooms")
    submission_id = models.UUIDField()
    lineage_id = models.UUIDField()
    """Whose submission it is: nobody who belongs to it decides."""
    hours = models.PositiveSmallIntegerField()
    reason = models.TextField()
    proposed_by = person_column(db_column="proposed_by")
    proposed_at = models.DateTimeField()
    opened_by = person_column(db_column="opened_by", null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    ended_by = person_column(db_column="ended_by", null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(hours__gte=1, hours__lte=LONGEST_HOURS), name="room_hours"),
            models.CheckConstraint(
                condition=Q(opened_by=None, opened_at=None, closes_at=None)
                | Q(opened_by__isnull=False, opened_at__isnull=False, closes_at__gt=F("opened_at")),
                name="room_opened_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(opened_by=None) | ~Q(opened_by=F("proposed_by")), name="room_two_people"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
                name="room_ended_by_somebody",
            ),
        ]

    @property
    def is_over(self) -> bool:
        return self.over_at is not None and self.over_at <= clock.now()

    @property
    def over_at(self) -> datetime | None:
        """When it closes or was ended; None for a proposal."""
        return min((at for at in (self.closes_at, self.ended_at) if at), default=None)

    @property
    def is_open(self) -> bool:
        return self.opened_at is not None and not self.is_over
