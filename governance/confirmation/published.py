"""What dated releases have published, for pages and the API. Everything comes from their stored documents."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from benchmark.models import TaskSetVersion
from governance.confirmation import document
from governance.confirmation.models import ConfirmationRun, ReleaseDate
from governance.confirmation.policies import may_withdraw
from submissions.models import Submission


def calendar() -> list[ReleaseDate]:
    """Every date, planned and past, the latest first; without documents."""
    return list(ReleaseDate.objects.defer("document").order_by("-planned_for", "label"))


def dated(label: str) -> ReleaseDate | None:
    """A dated release of results that took place."""
    return ReleaseDate.objects.filter(
        label=label, kind=ReleaseDate.Kind.RESULTS, dated_at__isnull=False
    ).first()


def confirmed(
    submissions: Iterable[Submission],
) -> dict[UUID, tuple[ConfirmationRun, ReleaseDate, dict[str, Any]]]:
    """By submission whose confirmed values a dated release has published: its confirmation, the release, its entry."""
    rows = ConfirmationRun.objects.filter(
        submission__in=[submission.pk for submission in submissions],
        state=ConfirmationRun.State.CONFIRMED,
        release_date__isnull=False,
    ).select_related("release_date", "run")
    found = {}
    for row in rows:
        entry = document.entry_of(row)
        if entry is not None and row.release_date is not None:
            found[row.submission_id] = (row, row.release_date, entry)
    return found


def published_on(
    task_set: TaskSetVersion, *, before: datetime, unless_offered_on: TaskSetVersion
) -> list[Submission]:
    """Submissions whose confirmed values a dated release published by `before`, and whose vendor still agrees to that.

    Those that were offered a re-run on `unless_offered_on` are left out. None that is voided or held is complete.
    """
    rows = ConfirmationRun.objects.filter(
        task_set=task_set,
        state=ConfirmationRun.State.CONFIRMED,
        release_date__dated_at__lte=before,
        submission__state=Submission.State.COMPLETE,
        submission__publication_consent=True,
    ).exclude(submission__rerun_offers__task_set=unless_offered_on)
    found = rows.select_related("submission").order_by("requested_at", "id")
    return [row.submission for row in found]


def face(row: ConfirmationRun) -> dict[str, Any]:
    """The one machine form of how a confirmation run stands. It tells nothing of what it gave."""
    return {
        "id": str(row.id),
        "submission": str(row.submission_id),
        "state": row.state,
        "since": row.state_since,
        "cause": row.cause,
        "requested_at": row.requested_at,
        "published_in": row.release_date.label if row.release_date else None,
        "may_withdraw": may_withdraw(row.state, is_dated=row.release_date_id is not None),
    }
