"""An alarm about work that nobody takes: raised once for each time it happens."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from config.ids import new_id


class FleetAlert(models.Model):
    """That work of a queue waited too long for a worker; open until something of that queue was taken again."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    queue = models.CharField(max_length=16)
    waiting_since = models.DateTimeField()
    """Since when the oldest work had waited when the alarm was raised."""
    raised_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue"], condition=Q(ended_at=None), name="fleet_alert_once_at_a_time"
            ),
        ]
