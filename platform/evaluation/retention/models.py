"""Purges of stored artefacts, and which attempts have nothing stored any more."""

from __future__ import annotations

from django.db import models
from django.utils.translation import pgettext_lazy

from config.ids import new_id


class ArtefactPurge(models.Model):
    """One purge: what went, of which class, and a digest over the digests of it. Never changes."""

    class Class(models.TextChoices):
        PREFLIGHT = "preflight", pgettext_lazy("retention", "preflights and canaries")
        HELD_OUT = "held_out", pgettext_lazy("retention", "held-out runs")
        FAILED = "failed", pgettext_lazy("retention", "attempts that gave no result")
        UNCLAIMED = "unclaimed", pgettext_lazy("retention", "objects that no attempt names")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=12, choices=Class.choices)
    at = models.DateTimeField()
    count = models.PositiveIntegerField()
    """Objects deleted."""
    size = models.BigIntegerField()
    """Their stored size in bytes."""
    digest = models.CharField(max_length=64)
    """SHA-256 over the sorted artefact digests, one a line; of unclaimed objects over their keys."""


class PurgedArtefact(models.Model):
    """That what this attempt left is not stored any more."""

    attempt = models.OneToOneField(
        "evaluation.Attempt", primary_key=True, on_delete=models.PROTECT, related_name="purged"
    )
    purge = models.ForeignKey(ArtefactPurge, on_delete=models.PROTECT, related_name="artefacts")
