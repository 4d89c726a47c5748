"""A bundle on its way in: declared, sent into quarantine, checked against its digest, used by one submission."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from config.ids import new_id, opaque_id
from submissions.models.registry import HarnessVersion


class Upload(models.Model):
    class State(models.TextChoices):
        OPEN = "open", _("open")
        VERIFYING = "verifying", _("being checked")
        COMPLETE = "complete", _("complete")
        CONSUMED = "consumed", _("used by a submission")
        FAILED = "failed", _("failed")
        ABORTED = "aborted", _("aborted")
        EXPIRED = "expired", _("expired")

    class Channel(models.TextChoices):
        WEB = "web", _("web form")
        API = "api", _("API")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    harness_version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="uploads")
    channel = models.CharField(max_length=8, choices=Channel.choices)
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    failure = models.CharField(max_length=40, blank=True)
    """Problem code, where the upload failed."""
    sha256 = models.CharField(max_length=64, blank=True)
    """Declared by the client first; empty only while a web form's bytes are still arriving."""
    size = models.BigIntegerField(null=True, blank=True)
    """Bytes, declared first; null only while a web form's bytes are still arriving."""
    object_key = models.UUIDField(unique=True, default=opaque_id, editable=False)
    multipart_id = models.CharField(max_length=1024, blank=True)
    verifying_since = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)
    """When its bytes left quarantine."""

    class Meta:
        indexes = [
            models.Index(
                fields=["expires_at"], name="upload_in_quarantine", condition=Q(removed_at__isnull=True)
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=("complete", "consumed")) | (~Q(sha256="") & Q(size__isnull=False)),
                name="complete_upload_has_digest",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(failure=""), name="failed_upload_says_why"
            ),
        ]

    @property
    def key(self) -> str:
        """The object's key in the quarantine bucket; says nothing about whose it is."""
        return f"uploads/{self.object_key}"
