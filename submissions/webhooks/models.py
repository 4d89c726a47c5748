"""An organisation's webhooks, and each message to them: its body as it is sent, and how its sending went."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models import Organisation
from config.ids import new_id
from submissions.webhooks.kinds import FAULTS, Fault


class WebhookEndpoint(models.Model):
    """Where to send what. The secret is sealed under a key of its own; processes without the people key have none."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=500)
    kinds = models.JSONField(default=list)
    sealed_secret = models.BinaryField()
    wrapped_key = models.BinaryField()
    created_at = models.DateTimeField()
    failing_since = models.DateTimeField(null=True, blank=True)
    """First failure since anything was last accepted."""
    disabled_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["organisation"], name="webhook_live", condition=Q(removed_at=None, disabled_at=None)
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(removed_at=None) | Q(sealed_secret=b"", wrapped_key=b"", url=""),
                name="removed_webhook_is_empty",
            )
        ]

    @property
    def shown_state(self) -> str:
        """on, failing or off."""
        if self.disabled_at is not None:
            return "off"
        return "failing" if self.failing_since is not None else "on"


class WebhookDelivery(models.Model):
    """One message; its id is the message's. `due_at` is null once it was accepted or given up."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=64)
    occasion = models.CharField(max_length=64, blank=True, default="")
    body = models.TextField()
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    last_at = models.DateTimeField(null=True, blank=True)
    last_status = models.PositiveSmallIntegerField(null=True, blank=True)
    """HTTP status of the last answer; nothing else of an answer is kept."""
    last_fault = models.CharField(max_length=20, blank=True, default="")
    """Why there was no answer: a code of `kinds.Fault`."""
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="webhook_delivery_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["endpoint", "-id"], name="webhook_delivery_of"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "kind", "subject", "occasion"], name="webhook_message_once"
            )
        ]

    @property
    def last_said(self) -> str:
        """What came of the last attempt, in words."""
        if self.last_status is not None:
            return f"HTTP {self.last_status}"
        return str(FAULTS[Fault(self.last_fault)]) if self.last_fault else ""
