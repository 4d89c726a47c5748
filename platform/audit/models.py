"""The event table. Rows come only from `audit.log.append`; the database derives every column from the body."""

from __future__ import annotations

from django.db import models


class EventRecord(models.Model):
    """One event: the exact hashed bytes, and index columns that a trigger reads out of them."""

    body = models.BinaryField()
    leaf_hash = models.BinaryField()
    kind = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=32)
    subject_id = models.CharField(max_length=64)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    organisation_id = models.CharField(max_length=64, blank=True)
    channel = models.CharField(max_length=16)
    outcome = models.CharField(max_length=32)
    recorded_at = models.DateTimeField()
    transaction = models.BigIntegerField()

    class Meta:
        db_table = "audit_event"
        indexes = [
            models.Index(fields=["subject_type", "subject_id"], name="audit_event_subject"),
            models.Index(fields=["organisation_id", "id"], name="audit_event_organisation"),
        ]
