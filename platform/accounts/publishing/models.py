"""Trusted publishers, the credentials that their jobs got, tokens that were used, and reviewed issuers."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from config import clock
from config.ids import new_id, opaque_id

REVIEWED_FOR = timedelta(days=90)
"""The longest time for which a reviewed issuer's keys are believed."""


class Dialect(models.TextChoices):
    GITHUB = "github", "GitHub Actions"
    GITLAB = "gitlab", "GitLab CI"


def _person(related_name: str = "+", **options: Any) -> models.ForeignKey[Any, Any]:
    """A column of pseudonyms, so that the auditor's role compares it with events and is shown no person."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        to_field="pseudonym",
        on_delete=models.PROTECT,
        related_name=related_name,
        **options,
    )


class TrustedPublisher(models.Model):
    """The CI jobs that may act for one harness. It is ended, never deleted; the same may be registered anew."""

    id = models.UUIDField(primary_key=True, default=opaque_id, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="publishers"
    )
    harness_id: models.UUIDField[uuid.UUID, uuid.UUID] = models.UUIDField()
    """No foreign key: harnesses live above accounts."""
    issuer = models.CharField(_("issuer"), max_length=255)
    dialect = models.CharField(max_length=8, choices=Dialect.choices)
    repository = models.CharField(_("repository"), max_length=255)
    """In lower case, as both services compare names."""
    owner_id = models.CharField(_("owner id"), max_length=20)
    """Stays when the owner is renamed, and is another when somebody else takes the name."""
    workflow = models.CharField(_("workflow file"), max_length=255)
    ref = models.CharField(_("branch or tag"), max_length=255, blank=True)
    environment = models.CharField(_("environment"), max_length=255, blank=True)
    registered_by = _person(db_column="registered_by")
    """For whose account its submissions count."""
    registered_at = models.DateTimeField()
    ended_by = _person(db_column="ended_by", null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["issuer", "repository"], name="publisher_by_repository")]
        constraints = [
            models.UniqueConstraint(
                fields=["harness_id", "issuer", "repository", "owner_id", "workflow", "ref", "environment"],
                condition=Q(ended_at__isnull=True),
                name="publisher_once",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
                name="publisher_ended_by_somebody",
            ),
        ]


class CiGrant(models.Model):
    """Two credentials of one job, as hashes: one to act for a harness, one to watch the submission it makes."""

    id = models.UUIDField(primary_key=True, default=opaque_id, editable=False)
    publisher = models.ForeignKey(TrustedPublisher, on_delete=models.PROTECT, related_name="grants")
    act_digest = models.CharField(max_length=64, unique=True)
    act_expires_at = models.DateTimeField()
    watch_digest = models.CharField(max_length=64, unique=True)
    watch_expires_at = models.DateTimeField()
    """At the latest; the submission's end plus seven days may come before."""
    submission_id: models.UUIDField[uuid.UUID | None, uuid.UUID | None] = models.UUIDField(
        null=True, blank=True
    )
    """The one submission that was made with it. No foreign key: submissions live above accounts."""
    issued_at = models.DateTimeField()


class UsedIdentity(models.Model):
    """A token's own id that was exchanged; kept until the token is long expired."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    issuer = models.CharField(max_length=255)
    jti = models.CharField(max_length=255)
    used_at = models.DateTimeField()
    kept_until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "jti"], name="identity_used_once")]
        indexes = [models.Index(fields=["kept_until"], name="identity_by_age")]


class ReviewedIssuer(models.Model):
    """An issuer that the site cannot reach: its keys were uploaded and reviewed by two people, for one organisation."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="issuers"
    )
    address = models.CharField(max_length=255)
    dialect = models.CharField(max_length=8, choices=Dialect.choices)
    jwks = models.JSONField()
    jwks_digest = models.CharField(max_length=64)
    """SHA-256 of the uploaded file."""
    reason = models.TextField()
    proposed_by = _person(db_column="proposed_by")
    proposed_at = models.DateTimeField()
    approved_by = _person(db_column="approved_by", null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    ended_by = _person(db_column="ended_by", null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["address"],
                condition=Q(approved_at__isnull=False, ended_at__isnull=True),
                name="issuer_reviewed_once",
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None, approved_at=None, ends_at=None)
                | Q(approved_by__isnull=False, approved_at__isnull=False, ends_at__isnull=False),
                name="issuer_approved_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")), name="issuer_two_people"
            ),
            models.CheckConstraint(
                condition=Q(ends_at=None) | Q(ends_at__lte=F("approved_at") + REVIEWED_FOR),
                name="issuer_ninety_days",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
                name="issuer_ended_by_somebody",
            ),
        ]

    @classmethod
    def live(cls) -> models.QuerySet[ReviewedIssuer]:
        """Those whose keys are believed now."""
        now = clock.now()
        return cls._default_manager.filter(approved_at__lte=now, ends_at__gt=now, ended_at=None)
