"""Admitting one submission: entitlement, cooldown, quota, receipt; all or nothing, however many ask at once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.publishing.services import bind_watch
from accounts.security.factors import is_enrolled
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock
from submissions import events, policies, tickets
from submissions.models import Submission, SubmissionTransition, Upload
from submissions.policies import QuotaWindow
from submissions.problems import Code, Refusal, Refused, refuse
from submissions.problems.identity import as_problems
from submissions.queries.admission import Order, forecast, identical_in_flight, see
from submissions.queries.ledger import quota_window
from submissions.queueing import services as queueing
from submissions.reruns import services as reruns
from submissions.services import slots
from submissions.services.idempotency import Answer, is_known, once

ROUTE = "submissions"
LINKED_MEANWHILE = 5
"""So many times in a row nobody is linked while an admission waits."""


@dataclass(frozen=True)
class Receipt:
    """What the vendor is told: 202 for a new submission, 200 for an identical earlier one; the same on every repeat."""

    submission_id: UUID
    status: int
    body: dict[str, Any]
    replayed: bool


def submit(order: Order, *, by: Actor, key: str) -> Receipt:
    """Admit `order`, or return the earlier identical result. The web form and the API both end here.

    Raises Refused with every reason of `policies.may_submit`, mfa_required, identical_in_flight,
    idempotency_key_required, idempotency_conflict, or act_used for a job that submitted before; then nothing is
    changed and nothing charged.
    """
    body = {
        "harness_version": str(order.harness_version.pk),
        "publication_consent": order.publication_consent,
        "task_set": order.task_set.label,
        "upload": str(order.upload.pk),
    }
    if order.offer is not None:
        body["rerun_offer"] = str(order.offer.pk)
    if by.kind == "person" and not is_enrolled(by.account):
        raise refuse(Code.MFA_REQUIRED)
    _refuse_early(order, by, key)
    answer = _admit(order, by, key, body)
    return Receipt(UUID(answer.body["id"]), answer.status, answer.body, answer.replayed)


def _admit(order: Order, by: Actor, key: str, body: Mapping[str, object]) -> Answer:
    """In one transaction, begun again where the organisation was linked with another meanwhile."""
    for _ in range(LINKED_MEANWHILE):
        with suppress(slots.LineageMoved), transaction.atomic():
            answer = once(order.organisation, ROUTE, key, body, lambda: _decide(order, by))
            _let_watch(order, UUID(answer.body["id"]), by)
            return answer
    raise refuse(Code.SERVICE_UNAVAILABLE)


def _let_watch(order: Order, submission_id: UUID, by: Actor) -> None:
    """A job's other credential follows what it submitted, an earlier identical one of the same harness too."""
    line = order.harness_version.harness_id
    own = Submission.objects.filter(
        pk=submission_id, organisation=order.organisation, harness_version__harness=line
    )
    if by.kind == "ci" and own.exists():
        with as_problems():
            bind_watch(by, submission_id, harness_id=line)


def _refuse_early(order: Order, by: Actor, key: str) -> None:
    """What is refused anyway takes no lock and writes nothing; what is not is decided again under the locks.

    A key that was answered, perhaps just now, is asked for after the look at the order: its answer is repeated.
    """
    refusal = forecast(order, by=by).refusal
    if refusal is not None and not is_known(order.organisation, ROUTE, key):
        raise Refused(refusal)


def _decide(order: Order, by: Actor) -> tuple[int, dict[str, Any]]:
    """The locks, late and short; everything is read again under them."""
    with transaction.atomic(savepoint=False):
        line = order.harness_version.harness
        slots.lock(order.task_set, line, order.organisation, by.account)
        upload = Upload.objects.select_for_update().get(pk=order.upload.pk)
        if order.offer is not None:
            reruns.hold(order.offer.pk)
        now = clock.now()
        seen = see(order, account=by.account, now=now)
        if refusal := policies.may_ask(seen.facts):
            raise Refused(refusal)
        if seen.earlier is not None:
            return _answer_by_earlier(Submission.objects.get(pk=seen.earlier), upload, by)
        window = quota_window(line, order.task_set, account=by.account, now=now)
        if window is None:
            raise Refused(policies.not_entitled(order.task_set.label))
        if refusal := policies.may_submit(seen.facts, window):
            raise Refused(refusal)
        submission = _create(order, upload, window, by)
        after = quota_window(line, order.task_set, account=by.account, now=now)
    return 202, receipt(submission, after, note=Code.ADMITTED)


def _create(order: Order, upload: Upload, window: QuotaWindow, by: Actor) -> Submission:
    now, terms = window.now, window.terms
    version = order.harness_version
    submission = Submission.objects.create(
        organisation=order.organisation,
        harness_version=version,
        task_set=order.task_set,
        upload=upload,
        account_id=by.account,
        channel=Submission.Channel.WEB if by.channel == "web" else Submission.Channel.API,
        publication_consent=order.publication_consent,
        state_since=now,
        package_digest=upload.sha256,
        card_digest=version.card_digest,
        protocol_version=order.task_set.protocol_version,
        evaluator_version=order.task_set.evaluator_version,
        runs_per_task=terms.runs_per_task,
        admitted_at=now,
        cooldown_until=now + terms.cooldown if terms.cooldown_seconds and order.offer is None else None,
    )
    SubmissionTransition.objects.create(
        submission=submission, state=submission.state, at=now, cause=Code.ADMITTED, actor_kind=by.kind
    )
    upload.state = Upload.State.CONSUMED
    upload.save(update_fields=["state"])
    log.append(events.UploadUsed(subject=upload.id, submission=str(submission.id)), by=by)
    cooldown = submission.cooldown_until
    event = events.SubmissionAdmitted(
        subject=submission.id,
        harness_version=str(version.id),
        task_set=order.task_set.label,
        package_digest=upload.sha256,
        card_digest=version.card_digest,
        upload=str(upload.id),
        lineage=str(order.organisation.lineage_id),
        cooldown_until=timestamp(cooldown) if cooldown else None,
        publication_consent=int(order.publication_consent),
    )
    log.append(event, by=by)
    offer = reruns.take(order.offer.pk, submission, by=by).pk if order.offer else None
    slots.reserve(submission, by=by, offer=offer)
    queueing.note(submission)
    tickets.send("submissions.tasks.check", submission.id)
    return submission


def _answer_by_earlier(earlier: Submission, upload: Upload, by: Actor) -> tuple[int, dict[str, Any]]:
    """The earlier result if it is complete, else where to look for it; nothing runs, nothing is charged."""
    if earlier.state != Submission.State.COMPLETE:
        raise Refused(identical_in_flight(earlier))
    log.append(events.SubmissionAnsweredByEarlier(subject=earlier.id, upload=str(upload.id)), by=by)
    return 200, receipt(earlier, None, note=Code.IDENTICAL_EARLIER)


def receipt(submission: Submission, window: QuotaWindow | None, *, note: Code) -> dict[str, Any]:
    """The stored answer: facts of the admission only, so that a repeat a month later reads the same."""
    return {
        "id": str(submission.id),
        "url": submission.address,
        "note": note.value,
        "state": submission.state,
        "harness_version": str(submission.harness_version_id),
        "task_set": submission.task_set.label,
        "package_digest": submission.package_digest,
        "card_digest": submission.card_digest,
        "admitted_at": timestamp(submission.admitted_at),
        "quota": window.shown() if window else None,
    }


__all__ = ["ROUTE", "Order", "Receipt", "Refusal", "submit"]
