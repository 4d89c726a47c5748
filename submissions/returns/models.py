"""A proposal to return one use, and the two people behind it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.duties.models import Proposal, two_people
from config.ids import new_id
from submissions.models.quota import Slot


class UseReturn(Proposal):
    """Proposed by one, then approved by another or withdrawn; with the approval the use is returned.

    The vendor reads the reason once it is approved.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="returns")

    class Meta:
        constraints = [
            *two_people("return"),
            # Open or approved: a slot has one such row at most, so it is returned by staff once for ever.
            models.UniqueConstraint(
                fields=["slot"], condition=Q(withdrawn_at=None), name="return_one_of_a_slot"
            ),
        ]
