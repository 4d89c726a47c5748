"""Openings of packages, each behind it two people, and the record of a package's deletion."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from config import clock
from config.ids import new_id
from submissions.models.submission import Submission

LONGEST_HOURS = 72


def _person(column: str, **options: Any) -> Any:
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        to_field="pseudonym",
        db_column=column,
        on_delete=models.PROTECT,
        related_name="+",
        **options,
    )


class PackageOpening(models.Model):
    """That two people may read one package, for some hours, for a reason; the vendor is told by the end."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="openings")
    hours = models.PositiveSmallIntegerField()
    reason = models.TextField()
    proposed_by = _person("proposed_by")
    proposed_at = models.DateTimeField()
    approved_by = _person("approved_by", null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    boxed_key = models.BinaryField(default=b"", blank=True)
    """The upload's key, lent to the console by a worker; gone with the end."""

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(hours__gte=1, hours__lte=LONGEST_HOURS), name="opening_hours"),
            models.CheckConstraint(
                condition=Q(approved_by=None, approved_at=None, closes_at=None)
                | Q(approved_by__isnull=False, approved_at__isnull=False, closes_at__gt=F("approved_at")),
                name="opening_approved_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")), name="opening_two_people"
            ),
            models.CheckConstraint(
                condition=Q(boxed_key=b"") | Q(approved_at__isnull=False, ended_at=None),
                name="opening_key_while_open",
            ),
            models.UniqueConstraint(
                fields=["submission"], condition=Q(ended_at=None), name="opening_one_at_a_time"
            ),
        ]

    @property
    def is_open(self) -> bool:
        return self.ended_at is None and self.closes_at is not None and clock.now() < self.closes_at


class PackageDeletion(models.Model):
    """That the package of a submission was deleted: keys destroyed, bytes removed. Its digest stays."""

    submission = models.OneToOneField(
        Submission, primary_key=True, on_delete=models.PROTECT, related_name="package_deletion"
    )
    at = models.DateTimeField()
