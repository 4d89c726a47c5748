"""Writing down model calls; leaving an upstream alone while it is down or its ceiling is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Least

from audit import log
from audit.events import Actor
from config import clock
from evaluation import events
from evaluation.calls.models import ModelCall, RunModel, UpstreamDoubt, UpstreamStop, UpstreamUse
from evaluation.calls.policies import Prices, at_most, cost, is_down
from evaluation.gateway.contract import Call, Record
from evaluation.models import EvaluationRun
from evaluation.upstreams.models import ModelUpstream
from evaluation.upstreams.services import probed

PROBES_A_SWEEP = 3
MOST_SPENT = Decimal(9_999_999_999)
PROBE_EVERY = timedelta(minutes=1)
"""How often an upstream that is down is tried."""


@dataclass(frozen=True)
class ModelNeed:
    """A model that a run may call."""

    role: str
    upstream_id: UUID
    exposure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def declare(run: EvaluationRun, needs: Sequence[ModelNeed]) -> None:
    """Write down what the harness of a new run may call; in the transaction of its creation."""
    RunModel.objects.bulk_create(
        [RunModel(run=run, **{**vars(need), "parameters": dict(need.parameters)}) for need in needs]
    )


def call_started(attempt_id: UUID, call: Call) -> int:
    """Write down that a call begins; returns what `call_ended` is told it by."""
    row = ModelCall.objects.create(
        attempt_id=attempt_id,
        upstream_id=UUID(call.route.upstream_id),
        role=call.route.role,
        step=call.number,
        number=call.attempt,
        dialect=str(call.route.dialect),
        streaming=call.streaming,
        reserved_tokens=call.reserved_tokens,
        parameters=dict(call.parameters),
        tools=call.tools,
        stripped=list(call.stripped),
        started_at=clock.now(),
    )
    return row.pk


def call_ended(call_id: int, record: Record, prices: Prices, *, by: Actor) -> None:
    """Write down how a call ended, once, what it cost, and stop the upstream where its ceiling is reached now."""
    usage = record.usage
    spent = cost(
        prices,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
    )
    with transaction.atomic():
        row = ModelCall.objects.select_for_update().get(pk=call_id)
        if row.ended_at is not None:
            return
        ModelCall.objects.filter(pk=call_id).update(
            ended_at=max(clock.now(), row.started_at),
            outcome=str(record.outcome),
            status=record.status,
            served=(record.served or "")[:200],
            usage=None if usage.raw is None else dict(usage.raw),
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            incomplete=record.incomplete,
            cut_off=record.cut_off,
            client_left=record.client_left,
            milliseconds=record.milliseconds,
            queued_milliseconds=record.queued_milliseconds,
            retry_milliseconds=record.retry_milliseconds,
            cost=spent,
        )
        if spent is None and record.incomplete:
            spent = at_most(prices, row.reserved_tokens)
        _spend(row.upstream_id, spent or Decimal(0), by=by)


def _spend(upstream_id: UUID, spent: Decimal, *, by: Actor) -> None:
    UpstreamUse.objects.get_or_create(upstream_id=upstream_id)
    UpstreamUse.objects.filter(pk=upstream_id).update(
        spent=Least(F("spent") + spent, MOST_SPENT), calls=F("calls") + 1
    )
    if not spent:
        return
    total = UpstreamUse.objects.values_list("spent", flat=True).get(pk=upstream_id)
    if total >= ModelUpstream.objects.values_list("ceiling", flat=True).get(pk=upstream_id):
        stop(upstream_id, UpstreamStop.Cause.CEILING, by=by)


def stop(upstream_id: UUID, cause: str, *, by: Actor, outcome: str = "") -> UpstreamStop:
    """Leave an upstream alone from now on; where it is already left alone for this cause, that stop."""
    with transaction.atomic():
        UpstreamUse.objects.get_or_create(upstream_id=upstream_id)
        UpstreamUse.objects.select_for_update().get(pk=upstream_id)  # one stop at a time
        found = UpstreamStop.objects.filter(upstream_id=upstream_id, cause=cause, ended_at=None).first()
        if found is not None:
            return found
        now = clock.now()
        row = UpstreamStop.objects.create(
            upstream_id=upstream_id, cause=cause, outcome=outcome, began_at=now, probed_at=now
        )
        log.append(events.UpstreamStopped(subject=upstream_id, cause=str(cause), stop=str(row.id)), by=by)
        transaction.on_commit(_tell_owners)
    return row


def go_on(row: UpstreamStop, *, by: Actor) -> None:
    """Call the upstream again; what waited for it goes on at the next tick at the latest."""
    with transaction.atomic():
        locked = UpstreamStop.objects.select_for_update().filter(pk=row.pk, ended_at=None).first()
        if locked is None:
            return
        locked.ended_at = max(clock.now(), locked.began_at)
        locked.save(update_fields=["ended_at"])
        event = events.UpstreamResumed(subject=locked.upstream_id, cause=locked.cause, stop=str(locked.id))
        log.append(event, by=by)
        transaction.on_commit(_tell_owners)


def _tell_owners() -> None:
    from config.celery import send_ticket

    send_ticket("submissions.tasks.follow_upstreams", queue="governance")
    send_ticket("evaluation.tasks.execute", queue="execute")


def doubt(upstream_id: UUID) -> None:
    """A worker found no answer: have the platform's own probe look, once for all workers that ask."""
    from config.celery import send_ticket

    row, made = UpstreamDoubt.objects.get_or_create(
        upstream_id=upstream_id, defaults={"raised_at": clock.now()}
    )
    if made or clock.now() - row.raised_at > PROBE_EVERY:
        send_ticket("evaluation.tasks.probe_upstream", str(upstream_id), queue="governance")


def settle_doubt(upstream_id: UUID, *, by: Actor) -> None:
    """Probe an upstream that a worker doubts, and stop it where it is down. Run where credentials may be opened."""
    if not UpstreamDoubt.objects.filter(upstream_id=upstream_id).exists():
        return
    outcome = probed(ModelUpstream.objects.get(pk=upstream_id)).outcome.value
    with transaction.atomic():
        if is_down(outcome):
            stop(upstream_id, UpstreamStop.Cause.DOWN, outcome=outcome, by=by)
        UpstreamDoubt.objects.filter(upstream_id=upstream_id).delete()


def review_stops(*, by: Actor) -> None:
    """Go on with each upstream that answers again, or whose ceiling was raised; settle doubts whose ticket was lost."""
    doubts = UpstreamDoubt.objects.order_by("raised_at").values_list("upstream_id", flat=True)
    for doubted in doubts[:PROBES_A_SWEEP]:
        settle_doubt(doubted, by=by)
    ceilings = UpstreamStop.objects.filter(cause=UpstreamStop.Cause.CEILING, ended_at=None)
    for row in ceilings.select_related("upstream__use"):
        if row.upstream.use.spent < row.upstream.ceiling:
            go_on(row, by=by)
    for row in _due_for_a_probe():
        outcome = probed(row.upstream).outcome.value
        UpstreamStop.objects.filter(pk=row.pk).update(probed_at=clock.now())
        if not is_down(outcome):
            go_on(row, by=by)


def _due_for_a_probe() -> list[UpstreamStop]:
    """Those that an open run waits for, the longest unprobed first, and few: a call that hangs takes 20 s."""
    waiting = RunModel.objects.filter(run__state=EvaluationRun.State.EXECUTING).values("upstream")
    rows = UpstreamStop.objects.filter(
        cause=UpstreamStop.Cause.DOWN, ended_at=None, upstream__in=waiting
    ).select_related("upstream")
    return list(rows.filter(probed_at__lte=clock.now() - PROBE_EVERY).order_by("probed_at")[:PROBES_A_SWEEP])


def model_refused(attempt_id: UUID, *, by: Actor) -> None:
    """A harness asked for a model that its HarnessCard does not list. The name stays out: it is the harness's text."""
    with transaction.atomic():
        log.append(events.UnlistedModel(subject=attempt_id), by=by)
