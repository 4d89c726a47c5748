"""A proposal to return one use, and the two people behind it."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from accounts.duties.models import person_column
from config.ids import new_id
from submissions.models.quota import Slot


class UseReturn(models.Model):
    """Proposed by one, then approved by another or withdrawn; with the approval the use is returned."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="returns")
    reason = models.TextField()
    """The vendor reads it once it is approved."""
    proposed_by = person_column(db_column="proposed_by")
    proposed_at = models.DateTimeField()
    approved_by = person_column(db_column="approved_by", null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = person_column(db_column="withdrawn_by", null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(approved_by=None, approved_at=None)
                | Q(approved_by__isnull=False, approved_at__isnull=False),
                name="return_approved_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_by=None, withdrawn_at=None)
                | Q(withdrawn_by__isnull=False, withdrawn_at__isnull=False),
                name="return_withdrawn_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(approved_at=None) | Q(withdrawn_at=None), name="return_ends_one_way"
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")), name="return_two_people"
            ),
            # Open or approved: a slot has one such row at most, so it is returned by staff once for ever.
            models.UniqueConstraint(
                fields=["slot"], condition=Q(withdrawn_at=None), name="return_one_of_a_slot"
            ),
        ]

    @property
    def state(self) -> str:
        if self.withdrawn_at is not None:
            return "withdrawn"
        return "proposed" if self.approved_at is None else "approved"
