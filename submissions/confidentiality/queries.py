"""What pages say about the confidentiality of a package."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from submissions.confidentiality.models import PackageDeletion, PackageOpening
from submissions.models import Submission


@dataclass(frozen=True)
class Keeping:
    """Until when a package is kept, or since when it is gone; `days` where its end is not known yet."""

    days: int
    until: datetime | None = None
    deleted_at: datetime | None = None


def keeping_of(submission: Submission) -> Keeping | None:
    """None where there never was a checked package."""
    if submission.package_id is None:
        return None
    days = settings.PACKAGE_RETENTION_DAYS
    gone = PackageDeletion.objects.filter(submission=submission).first()
    if gone is not None:
        return Keeping(days, deleted_at=gone.at)
    ended = submission.ended_at
    return Keeping(days, until=ended + timedelta(days=days) if ended else None)


def openings() -> list[PackageOpening]:
    """For staff: running ones first, newest first."""
    rows = PackageOpening.objects.select_related(
        "submission__harness_version__harness", "submission__organisation", "proposed_by", "approved_by"
    )
    return sorted(rows.order_by("-proposed_at")[:200], key=lambda row: row.ended_at is not None)


def opening(identifier: UUID) -> PackageOpening | None:
    rows = PackageOpening.objects.select_related(
        "submission__harness_version__harness", "submission__organisation", "proposed_by", "approved_by"
    )
    return rows.filter(pk=identifier).first()
