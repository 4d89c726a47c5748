"""What is shown of corrections. Reads nothing that is sealed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from governance.confirmation.models import ConfirmationRun
from governance.correcting.models import Cause, Correction
from submissions.models import Submission


@dataclass(frozen=True)
class Corrected:
    """Values that stand in place of those shown before, since when and why."""

    at: datetime
    cause: str
    values: dict[str, dict[str, int]]
    former: dict[str, dict[str, int]]

    @property
    def because(self) -> str:
        return str(Cause(self.cause).label)

    def as_dict(self) -> dict[str, Any]:
        """The machine form; the values themselves stand where values stand."""
        return {"at": self.at.isoformat(), "cause": self.cause, "former": self.former}


def corrections(submissions: Iterable[Submission]) -> dict[UUID, Corrected]:
    """By submission: the latest correction of the run whose values are shown."""
    wanted = {submission.pk: submission.held_out_run_id for submission in submissions}
    published = ConfirmationRun.objects.filter(
        submission__in=wanted, state=ConfirmationRun.State.CONFIRMED, release_date__isnull=False
    )
    wanted |= dict(published.values_list("submission_id", "run_id"))
    rows = Correction.objects.filter(submission__in=wanted).order_by("corrected_at")
    found = {}
    for row, run in zip(rows, rows.values_list("regrading__run_id", flat=True), strict=True):
        if wanted[row.submission_id] == run:
            found[row.submission_id] = Corrected(row.corrected_at, row.cause, row.values, row.former)
    return found


def of_confirmations(identifiers: Iterable[str]) -> dict[str, Corrected]:
    """By confirmation run that a dated release published: its latest correction, which stands beside the document."""
    runs = ConfirmationRun.objects.filter(pk__in=list(identifiers), release_date__isnull=False)
    by_run = {run: str(which) for which, run in runs.values_list("id", "run_id")}
    rows = Correction.objects.filter(regrading__run__in=by_run).order_by("corrected_at")
    return {
        by_run[run]: Corrected(row.corrected_at, row.cause, row.values, row.former)
        for row, run in zip(rows, rows.values_list("regrading__run_id", flat=True), strict=True)
    }
