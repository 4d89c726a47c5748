"""Looking for linked accounts, and joining two allowances so that no admission slips between."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from accounts.linking import parting
from accounts.linking import services as linking
from accounts.linking.models import LinkCase
from accounts.linking.queries import lineages_now
from audit.events import Actor
from submissions.linking import signals
from submissions.models import AdmissionStop, QuotaCounter
from submissions.queries import open_task_sets
from submissions.services import slots
from submissions.services.policy import stop_admission


def scan(*, by: Actor) -> int:
    """Open a case for each pair that has new signals; returns how many were opened or extended. May run twice."""
    linking.forget_networks()
    raised = [
        linking.raise_case(one, other, found, by=by)
        for (one, other), found in sorted(signals.found().items())
    ]
    return sum(case is not None for case in raised)


def decide(case: LinkCase, *, by: Actor) -> None:
    """Confirm what was proposed. Where that links them, both wait for admissions under way, and stops hold for both.

    Raises like `accounts.linking.services.decide`.
    """
    with transaction.atomic():
        _hold(lineages_now(case))
        linking.decide(case, by=by)
        if case.absorbed_id is None:
            return
        for stop in AdmissionStop.objects.filter(lineage=case.absorbed_id, lifted_at=None):
            stop_admission(stop.task_set, cause=stop.cause, lineage=case.into, until=stop.until, by=by)


def part(case: LinkCase, *, by: Actor) -> None:
    """Confirm that a link is undone. Admissions under way are waited for; what stops both stops each from now on.

    Raises like `accounts.linking.parting.decide`.
    """
    with transaction.atomic():
        _hold({key for key in (case.absorbed_id, case.into_id) if key is not None})
        parting.decide(case, by=by)
        if case.absorbed_id is None:
            return
        stops = AdmissionStop.objects.filter(lineage=case.into_id, lifted_at=None, since__gte=case.decided_at)
        known = AdmissionStop.objects.filter(lineage=case.absorbed_id, lifted_at=None)
        own = set(known.values_list("task_set_id", "cause", "until"))
        for stop in stops:
            if (stop.task_set_id, stop.cause, stop.until) not in own:
                stop_admission(
                    stop.task_set, cause=stop.cause, lineage=case.absorbed, until=stop.until, by=by
                )


def _hold(lineages: set[UUID]) -> None:
    """The counters of these, in one order, until the transaction ends."""
    for task_set in sorted(open_task_sets(), key=lambda row: str(row.pk)):
        for lineage in sorted(lineages):
            slots.hold(task_set, QuotaCounter.Kind.LINEAGE, lineage)
