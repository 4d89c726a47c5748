"""Invitations to join an organisation. Only the hash of an invitation's secret is kept."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from config import clock
from config.ids import new_id

ROLES = [("owner", _("owner")), ("submitter", _("submitter")), ("viewer", _("viewer"))]


class Invitation(models.Model):
    """Bound to one address, good once, until it expires. The address is gone as soon as it is over."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="invitations"
    )
    address = models.EmailField(blank=True)
    role = models.CharField(max_length=16, choices=ROLES)
    digest = models.CharField(max_length=64, unique=True)
    """SHA-256 of the secret in the mailed link, in lower-case hex."""
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(accepted_at=None) | Q(revoked_at=None), name="invitation_ends_once"
            ),
            models.CheckConstraint(
                condition=Q(accepted_at=None, revoked_at=None) | Q(address=""),
                name="invitation_forgets_address",
            ),
        ]

    @property
    def is_open(self) -> bool:
        """Whether it can still be accepted."""
        return self.accepted_at is None and self.revoked_at is None and self.expires_at > clock.now()
