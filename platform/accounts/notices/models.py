"""A notice to one person, which is also its own mail in the outbox; and what people want by mail.

No business state: nothing is decided by these rows, so that they need no event of the log. They hold ids, codes,
dates and names that the recipient's organisation gave; never a score of a held-out task, a secret or a signed address.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from config.ids import new_id


class Notice(models.Model):
    """`mail_due_at` says from when its mail is to be sent; null where none is, or where it is done."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    """Whose matter it is: who leaves the organisation sees it no more. Null for matters of the person's own."""
    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=64)
    """Id of what it is about."""
    occasion = models.CharField(max_length=64, blank=True, default="")
    """Tells several notices of a kind about one subject apart; one each."""
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    mail_due_at = models.DateTimeField(null=True, blank=True)
    mail_attempts = models.PositiveSmallIntegerField(default=0)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["person", "-id"], name="notice_of_person"),
            models.Index(
                fields=["mail_due_at"], name="notice_mail_due", condition=Q(mail_due_at__isnull=False)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["person", "kind", "subject", "occasion"], name="notice_once_each"
            ),
            models.CheckConstraint(
                condition=Q(mailed_at=None) | Q(mail_due_at=None), name="notice_mailed_is_not_due"
            ),
        ]


class NoticePreference(models.Model):
    """What a person wants by mail, where it differs from the default: everything, but no scores."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="notice_preference",
    )
    silent = models.JSONField(default=list)
    """Groups that come without mail."""
    scores_in_mail = models.BooleanField(default=False)
