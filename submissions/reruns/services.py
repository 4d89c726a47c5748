"""Offers made, taken, opened again and ended: one transaction a step, with its event."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from accounts.notices.kinds import Kind
from accounts.notices.services import notify_organisation
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Slot, Submission
from submissions.policies import reruns as policy
from submissions.reruns import events
from submissions.reruns.models import RerunOffer

State = RerunOffer.State


def make(former: Submission, task_set: TaskSetVersion, *, by: Actor) -> RerunOffer | None:
    """Offer the combination of `former` on `task_set`, and tell its organisation; None where that was done before."""
    with transaction.atomic():
        # Two ticks that come at once wait for each other here.
        rows = Submission.objects.select_for_update(of=("self",)).select_related("harness_version__harness")
        submission = rows.get(pk=former.pk)
        if RerunOffer.objects.filter(former=submission, task_set=task_set).exists():
            return None
        now = clock.now()
        offer = RerunOffer.objects.create(
            former=submission,
            task_set=task_set,
            organisation=submission.organisation,
            harness_version=submission.harness_version,
            package_digest=submission.package_digest,
            offered_at=now,
            expires_at=now + policy.STANDS,
        )
        event = events.RerunOffered(
            subject=offer.id,
            former=str(submission.id),
            task_set=task_set.label,
            owner=str(submission.organisation_id),
            harness_version=str(submission.harness_version_id),
            package_digest=offer.package_digest,
            expires_at=timestamp(offer.expires_at),
        )
        log.append(event, by=by)
        _tell(offer)
    return offer


def _tell(offer: RerunOffer) -> None:
    version = offer.harness_version
    facts = {
        "harness": version.harness.name,
        "version": version.version,
        "task_set": offer.task_set.label,
        "deadline": offer.expires_at.isoformat(),
    }
    notify_organisation(offer.organisation, Kind.RERUN_OFFERED, subject=offer.id, facts=facts)


def hold(offer_id: UUID) -> None:
    """Hold the offer until the transaction ends, so that of two who take it at once one finds it used."""
    RerunOffer.objects.select_for_update().get(pk=offer_id)


def take(offer_id: UUID, submission: Submission, *, by: Actor) -> RerunOffer:
    """The submission that was just admitted takes it. The caller holds it, and has asked `policies.reruns.refusal`."""
    offer = RerunOffer.objects.get(pk=offer_id)
    offer.state, offer.submission, offer.used_at = State.USED, submission, submission.admitted_at
    offer.save(update_fields=["state", "submission", "used_at"])
    log.append(events.RerunOfferUsed(subject=offer.id, submission=str(submission.id)), by=by)
    return offer


def reopen(slot: Slot, *, cause: str, by: Actor) -> None:
    """The use of a slot was returned: what was offered for it is open again, for as long as was left of it."""
    if slot.offer_id is None or cause in policy.KEEPS:
        return
    offer = RerunOffer.objects.select_for_update().get(pk=slot.offer_id)
    if offer.state != State.USED or offer.submission_id != slot.submission_id or offer.used_at is None:
        return
    offer.expires_at = policy.reopened_until(offer.expires_at, offer.used_at, clock.now())
    offer.state, offer.submission, offer.used_at = State.OPEN, None, None
    offer.save(update_fields=["state", "submission", "used_at", "expires_at"])
    event = events.RerunOfferReopened(
        subject=offer.id,
        submission=str(slot.submission_id),
        cause=cause,
        expires_at=timestamp(offer.expires_at),
    )
    log.append(event, by=by)


def tend(*, by: Actor) -> int:
    """End offers whose time is over, and those of versions that were closed; how many."""
    rows = RerunOffer.objects.filter(state=State.OPEN)
    over = {
        **dict.fromkeys(rows.filter(expires_at__lte=clock.now()).values_list("pk", flat=True), State.EXPIRED),
        **dict.fromkeys(
            rows.filter(task_set__closed_at__isnull=False).values_list("pk", flat=True), State.WITHDRAWN
        ),
    }
    return sum(_end(which, state, by=by) for which, state in over.items())


def _end(which: UUID, state: str, *, by: Actor) -> bool:
    with transaction.atomic():
        offer = RerunOffer.objects.select_for_update().get(pk=which)
        if offer.state != State.OPEN:
            return False
        offer.state, offer.ended_at = state, clock.now()
        offer.save(update_fields=["state", "ended_at"])
        log.append(events.RerunOfferEnded(subject=offer.id, outcome=state), by=by)
    return True
