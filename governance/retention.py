"""Which stored artefacts may go: their time is over, and no open appeal, hold, case or confirmation run needs them."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from audit.events import Actor
from config import clock
from evaluation.models import ArtefactPurge
from evaluation.retention import services as stored
from governance.appeals.models import Appeal
from governance.appeals.policies import ENDS as APPEAL_ENDS
from governance.confirmation.models import ConfirmationRun
from governance.confirmation.policies import ENDS as CONFIRMATION_ENDS
from governance.desk.models import Case, Hold
from governance.desk.policies import OPEN as HOLD_OPEN
from submissions.confidentiality.models import PackageOpening
from submissions.confidentiality.services import HOLDING
from submissions.models import Submission

Class = ArtefactPurge.Class
RUNS = ("preflight_run", "canary_run", "held_out_run")


def needed() -> set[UUID]:
    """Submissions of which somebody still needs package and artefacts.

    Those under an open appeal or hold or approved opening, of a lineage in an open case on their version, and those
    that a confirmation run repeats now.
    """
    rows = Submission.of_any_scope
    asked = (
        Q(appeals__in=Appeal.objects.exclude(state__in=APPEAL_ENDS))
        | Q(hold__in=Hold.objects.filter(state__in=HOLD_OPEN))
        | Q(openings__in=PackageOpening.objects.filter(**HOLDING))
        | Q(confirmations__in=ConfirmationRun.objects.exclude(state__in=CONFIRMATION_ENDS))
    )
    found = set(rows.filter(asked).values_list("pk", flat=True))
    for case in Case.objects.exclude(state=Case.State.CLOSED):
        involved = rows.filter(task_set=case.task_set_id, organisation__lineage=case.lineage_id)
        found |= set(involved.values_list("pk", flat=True))
    return found


def purge(*, by: Actor) -> dict[str, int]:
    """Delete what is due of each class; returns how much by class. Any number of repeats delete nothing more."""
    spared = needed()
    rows = Submission.of_any_scope.exclude(pk__in=spared)
    trials = _runs(rows.filter(preflight_run__ended_at__lte=_before(Class.PREFLIGHT)), "preflight_run")
    trials |= _runs(rows.filter(canary_run__ended_at__lte=_before(Class.PREFLIGHT)), "canary_run")
    scored = _runs(rows.filter(ended_at__lte=_before(Class.HELD_OUT)), "held_out_run")
    scored |= _confirmed(spared)
    kept = {run for name in RUNS for run in _runs(Submission.of_any_scope.filter(pk__in=spared), name)}
    kept |= set(
        ConfirmationRun.objects.filter(submission__in=spared, run__isnull=False).values_list("run", flat=True)
    )
    return {
        Class.PREFLIGHT: stored.purge_runs(Class.PREFLIGHT, trials, by=by),
        Class.HELD_OUT: stored.purge_runs(Class.HELD_OUT, scored, by=by),
        Class.FAILED: stored.purge_failed(_before(Class.FAILED), spared=kept, by=by),
        Class.UNCLAIMED: stored.purge_unclaimed(_before(Class.UNCLAIMED), by=by),
    }


def _before(kind: str) -> datetime:
    return clock.now() - timedelta(days=settings.RETENTION_DAYS[kind])


def _runs(rows: QuerySet[Submission], name: str) -> set[UUID]:
    return set(rows.filter(**{f"{name}__isnull": False}).values_list(name, flat=True))


def _confirmed(spared: set[UUID]) -> set[UUID]:
    """Runs of confirmations that ended as long ago."""
    rows = ConfirmationRun.objects.filter(ended_at__lte=_before(Class.HELD_OUT), run__isnull=False)
    return set(rows.exclude(submission__in=spared).values_list("run", flat=True))
