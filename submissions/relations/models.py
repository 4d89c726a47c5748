"""The owner of a harness as its submitter named them, and the notice about one submission."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from config.ids import new_id
from submissions.models.registry import Harness
from submissions.models.submission import Submission


class HarnessOwner(models.Model):
    """Name, contact and statement, sealed under a key of their own. They never change: register the harness anew."""

    harness = models.OneToOneField(Harness, primary_key=True, on_delete=models.PROTECT, related_name="owner")
    wrapped_key = models.BinaryField()
    sealed = models.BinaryField()
    filed_at = models.DateTimeField()


class OwnerNotice(models.Model):
    """One third-party submission's notice: ordered by staff who checked the address, mailed once, 14 days to object.

    A mail that fails is tried again with growing pauses, and given up at last.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.OneToOneField(Submission, on_delete=models.PROTECT, related_name="owner_notice")
    ordered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        to_field="pseudonym",
        db_column="ordered_by",
        on_delete=models.PROTECT,
        related_name="+",
    )
    ordered_at = models.DateTimeField()
    mail_due_at = models.DateTimeField(null=True, blank=True)
    """From when on the mail is to be sent; null once it was, or was given up."""
    mail_attempts = models.PositiveSmallIntegerField(default=0)
    given_up_at = models.DateTimeField(null=True, blank=True)
    """When it had failed too often; staff look at the address and may have it tried anew."""
    sent_at = models.DateTimeField(null=True, blank=True)
    publishable_from = models.DateTimeField(null=True, blank=True)
    objected_at = models.DateTimeField(null=True, blank=True)
    objection = models.TextField(blank=True)
    """The owner's words, for staff."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(mail_due_at__isnull=False, sent_at=None, given_up_at=None)
                | Q(mail_due_at=None, sent_at__isnull=False, given_up_at=None)
                | Q(mail_due_at=None, sent_at=None, given_up_at__isnull=False),
                name="owner_notice_due_sent_or_given_up",
            ),
            models.CheckConstraint(
                condition=Q(sent_at=None, publishable_from=None)
                | Q(sent_at__isnull=False, publishable_from__isnull=False),
                name="owner_notice_sent_with_date",
            ),
            models.CheckConstraint(
                condition=Q(objected_at=None, objection="") | (Q(sent_at__isnull=False) & ~Q(objection="")),
                name="owner_notice_objection_has_words",
            ),
        ]
