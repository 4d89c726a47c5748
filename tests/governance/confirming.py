"""A released submission taken to its confirmation run, step by step, with results that a worker would have written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from audit.events import system
from config import clock
from evaluation.models import Episode, EvaluationRun
from governance.confirmation import services
from governance.confirmation.models import ConfirmationRun
from governance.tasks import confirm
from submissions.models import Submission
from tests.factories import saved
from tests.submissions import world
from tests.submissions.outcomes import graded

BY = system("confirmation")
CONSENT = {"publication_consent": True}
RIGHT: Mapping[str, int] = {"general": 18, "finance": 6, "supply_chain": 12, "manufacturing": 24}
"""By domain: how many of its 24 tasks the confirmation run solves. The first run solves 12 of each."""
SHOWN = {"general": 75, "finance": 25, "supply_chain": 50, "manufacturing": 100}


def asked(vendor: world.Vendor, submission: Submission, **extra: Any) -> world.Answer:
    return vendor.api.post(f"submissions/{submission.id}/confirmation", CONSENT, **extra)


def row_of(submission: Submission) -> ConfirmationRun:
    return ConfirmationRun.objects.select_related("run").filter(submission=submission).latest("number")


def advanced(submission: Submission, times: int = 1, *, later: timedelta = timedelta(0)) -> ConfirmationRun:
    """The tick, so many times."""
    with clock.shifted(later):
        for _ in range(times):
            services.advance(row_of(submission).id, by=BY)
    return row_of(submission)


def started(vendor: world.Vendor, submission: Submission) -> ConfirmationRun:
    assert asked(vendor, submission).status == 202
    found = advanced(submission, 2)
    assert found.state == "running"
    return found


def run_through(row: ConfirmationRun, right: Mapping[str, int] = RIGHT, missing: int = 0) -> None:
    """Every task answered once, `missing` of them lost; then the run has ended."""
    assert row.run is not None
    seen: dict[str, int] = {}
    episodes = Episode.objects.filter(run=row.run).select_related("task").order_by("task__slug")
    for episode in episodes[missing:]:
        domain = episode.task.domain
        at = seen[domain] = seen.get(domain, -1) + 1
        graded(episode, f"second-{domain}-{at}", is_right=at < right[domain], tokens=1234)
    ended(row, missing=missing)


def ended(row: ConfirmationRun, missing: int = 0) -> None:
    run = EvaluationRun.objects.get(pk=row.run_id)
    run.state, run.missing, run.ended_at = EvaluationRun.State.ENDED, missing, clock.now()
    saved(run)


def confirmed(vendor: world.Vendor, submission: Submission, **how: Any) -> ConfirmationRun:
    """Asked for, run, graded, sealed; in no dated release yet."""
    run_through(started(vendor, submission), **how)
    found = advanced(submission, 2, later=timedelta(minutes=20))
    assert found.state == "confirmed", found.cause
    return found


def swept(later: timedelta = timedelta(0)) -> None:
    with clock.shifted(later):
        confirm()
