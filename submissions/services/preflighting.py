"""Admitting a preflight on its own: the counters' locks as for a submission, but no use, no cooldown, no consent."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.security.factors import is_enrolled
from audit import log
from audit.events import Actor
from config import clock
from submissions import events, policies, tickets
from submissions.models import Submission, SubmissionTransition, Upload
from submissions.problems import Code, Refused, refuse
from submissions.queries.admission import Order, preflight_refusal, see
from submissions.queries.ledger import quota_window
from submissions.queueing import services as queueing
from submissions.services import slots
from submissions.services.admission import LINKED_MEANWHILE, Receipt, receipt
from submissions.services.idempotency import is_known, once

ROUTE = "preflights"


def start_preflight(order: Order, *, by: Actor, key: str) -> Receipt:
    """Run the package on the public tasks only. Its upload is not used up and may be submitted afterwards.

    Raises Refused with every reason of `policies.may_preflight`, mfa_required, idempotency_key_required or
    idempotency_conflict; then nothing is changed and nothing counted.
    """
    body = {
        "harness_version": str(order.harness_version.pk),
        "task_set": order.task_set.label,
        "upload": str(order.upload.pk),
    }
    if by.kind == "person" and not is_enrolled(by.account):
        raise refuse(Code.MFA_REQUIRED)
    refusal = preflight_refusal(order, by=by)
    if refusal is not None and not is_known(order.organisation, ROUTE, key):
        raise Refused(refusal)
    for _ in range(LINKED_MEANWHILE):
        with suppress(slots.LineageMoved), transaction.atomic():
            answer = once(order.organisation, ROUTE, key, body, lambda: _decide(order, by))
            return Receipt(UUID(answer.body["id"]), answer.status, answer.body, answer.replayed)
    raise refuse(Code.SERVICE_UNAVAILABLE)


def _decide(order: Order, by: Actor) -> tuple[int, dict[str, Any]]:
    """Everything is read again under the locks, which submissions of the line wait for too."""
    line = order.harness_version.harness
    slots.lock(order.task_set, line, order.organisation, by.account)
    upload = Upload.objects.select_for_update().get(pk=order.upload.pk)
    now = clock.now()
    seen = see(order, account=by.account, now=now)
    window = quota_window(line, order.task_set, account=by.account, now=now)
    if window is None:
        raise Refused(policies.not_entitled(order.task_set.label))
    if refusal := policies.may_preflight(seen.facts, window):
        raise Refused(refusal)
    preflight = _create(order, upload, by)
    after = quota_window(line, order.task_set, account=by.account, now=now)
    return 202, receipt(preflight, after, note=Code.PREFLIGHT_ADMITTED)


def _create(order: Order, upload: Upload, by: Actor) -> Submission:
    now, version = clock.now(), order.harness_version
    preflight = Submission.of_any_scope.create(
        scope=Submission.Scope.PREFLIGHT,
        organisation=order.organisation,
        harness_version=version,
        task_set=order.task_set,
        upload=upload,
        account_id=by.account,
        channel=Submission.Channel.WEB if by.channel == "web" else Submission.Channel.API,
        state_since=now,
        package_digest=upload.sha256,
        card_digest=version.card_digest,
        protocol_version=order.task_set.protocol_version,
        evaluator_version=order.task_set.evaluator_version,
        runs_per_task=1,
        admitted_at=now,
    )
    SubmissionTransition.objects.create(
        submission=preflight,
        state=preflight.state,
        at=now,
        cause=Code.PREFLIGHT_ADMITTED,
        actor_kind=by.kind,
    )
    event = events.PreflightAdmitted(
        subject=preflight.id,
        harness_version=str(version.id),
        task_set=order.task_set.label,
        package_digest=upload.sha256,
        card_digest=version.card_digest,
        upload=str(upload.id),
        lineage=str(order.organisation.lineage_id),
    )
    log.append(event, by=by)
    queueing.note(preflight)
    tickets.send("submissions.tasks.check", preflight.id)
    return preflight
