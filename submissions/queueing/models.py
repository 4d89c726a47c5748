"""Where a submission stands in the queue, as it was last noted."""

from __future__ import annotations

from django.db import models

from submissions.models.submission import Submission


class QueueStanding(models.Model):
    """Made with the admission, renewed at most hourly. Coarse words only: no count, no instant, nothing per task."""

    submission = models.OneToOneField(
        Submission, primary_key=True, on_delete=models.CASCADE, related_name="standing"
    )
    place = models.CharField(max_length=12)
    """A key of `policies.PLACES`."""
    starts = models.CharField(max_length=16)
    """When its first held-out task is expected to start: a key of `policies.TIMES`."""
    ends = models.CharField(max_length=16)
    """When all its runs are expected to be through."""
    noted_at = models.DateTimeField()
