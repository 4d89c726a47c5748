"""Pausing, draining, quarantining, and lifting each again: one transaction an order, with its event.

Evaluation engineers order the fleet about; a release is paused and resumed by held-out governors. Raises DutyRefused
for other people, and where no reason is given. The platform itself may give orders too (`audit.events.system`).
Giving an order that stands, and lifting one that does not, changes nothing.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from accounts.duties.queries import standing
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from audit import log
from audit.events import Actor
from audit.texts import concealed
from config import clock
from evaluation import claims
from evaluation import services as runs
from evaluation.fleet import events
from evaluation.fleet.models import EpisodeQuarantine, FleetOrder, Order, Pause, Switch
from evaluation.fleet.quarantine import ordered, set_apart
from evaluation.models import Episode, EvaluationRun

SET_ASIDE = (Episode.State.READY, Episode.State.LEASED, Episode.State.UNAVAILABLE)
"""States in which an episode can be put into quarantine: it has no outcome yet."""


def pause(switch: Switch, *, reason: str, by: Actor) -> Pause:
    """Turn a switch off for everybody: no submission admitted, no execution claimed, or nothing released."""
    _require(_duty_of(switch), reason, by)
    with transaction.atomic():
        row, is_new = Pause.objects.get_or_create(switch=switch, lifted_at=None, defaults=ordered(reason, by))
        if is_new:
            event = events.SwitchPaused(subject=row.id, switch=switch.value, reason=concealed(row.reason))
            log.append(event, by=by)
    return row


def resume(switch: Switch, *, reason: str, by: Actor) -> Pause | None:
    """Turn it on again; None where it was not off."""
    _require(_duty_of(switch), reason, by)
    with transaction.atomic():
        row = Pause.objects.select_for_update().filter(switch=switch, lifted_at=None).first()
        if row is not None:
            _lift(row, reason, by)
            event = events.SwitchResumed(
                subject=row.id, switch=switch.value, reason=concealed(row.lift_reason)
            )
            log.append(event, by=by)
            if switch == Switch.EXECUTION:
                transaction.on_commit(runs.wake_execute)
    return row


def order_fleet(kind: str, scope: str, name: str, *, reason: str, by: Actor) -> FleetOrder:
    """Let a worker, or all of a host, take nothing more; see `FleetOrder.Kind` for what it holds.

    Raises ValueError for an unknown kind or scope, and without a name.
    """
    _require(Duty.EVALUATION_ENGINEER, reason, by)
    if not name:
        raise ValueError("an order names a worker or a host")
    which = {"kind": FleetOrder.Kind(kind), "scope": FleetOrder.Scope(scope), "name": name}
    with transaction.atomic():
        row, is_new = FleetOrder.objects.get_or_create(**which, lifted_at=None, defaults=ordered(reason, by))
        if is_new:
            event = events.FleetOrdered(
                subject=row.id, order=kind, scope=scope, name=name, reason=concealed(row.reason)
            )
            log.append(event, by=by)
    return row


def lift_fleet_order(which: UUID, *, reason: str, by: Actor) -> FleetOrder:
    """Let it take work again. Raises FleetOrder.DoesNotExist."""
    _require(Duty.EVALUATION_ENGINEER, reason, by)
    with transaction.atomic():
        row = FleetOrder.objects.select_for_update().get(pk=which)
        if row.lifted_at is None:
            _lift(row, reason, by)
            event = events.FleetOrderLifted(
                subject=row.id,
                order=row.kind,
                scope=row.scope,
                name=row.name,
                reason=concealed(row.lift_reason),
            )
            log.append(event, by=by)
            transaction.on_commit(runs.wake_execute)
    return row


def quarantine_episode(episode_id: int, *, reason: str, by: Actor) -> EpisodeQuarantine | None:
    """Try it no more until it is released; an attempt that is under way is stopped, and its claim void.

    None where the episode has an outcome, is being graded, or was cancelled.
    """
    _require(Duty.EVALUATION_ENGINEER, reason, by)
    with transaction.atomic():
        # The run first, as wherever both are locked.
        run_id = Episode.objects.values_list("run_id", flat=True).get(pk=episode_id)
        EvaluationRun.objects.select_for_update(no_key=True).get(pk=run_id)
        episode = Episode.objects.select_for_update().get(pk=episode_id)
        if episode.state == Episode.State.QUARANTINED:
            return EpisodeQuarantine.objects.get(episode=episode, lifted_at=None)
        if episode.state not in SET_ASIDE:
            return None
        if episode.state == Episode.State.LEASED:
            claims.void_attempt(episode, by=by)
        return set_apart(episode, cause=EpisodeQuarantine.Cause.STAFF, reason=reason, by=by)


def release_episode(which: UUID, *, reason: str, by: Actor) -> EpisodeQuarantine:
    """Let it be tried again, with all its attempts: at once while its run executes, else when what is missing is
    repeated. Raises EpisodeQuarantine.DoesNotExist."""
    _require(Duty.EVALUATION_ENGINEER, reason, by)
    with transaction.atomic():
        run_id = EpisodeQuarantine.objects.values_list("episode__run_id", flat=True).get(pk=which)
        run = EvaluationRun.objects.select_for_update(no_key=True).get(pk=run_id)
        row = EpisodeQuarantine.objects.select_for_update().get(pk=which)
        if row.lifted_at is not None:
            return row
        _lift(row, reason, by)
        state = _after_quarantine(run)
        held = Episode.objects.filter(pk=row.episode_id, state=Episode.State.QUARANTINED)
        held.update(state=state, attempts=0, grading_attempts=0)
        event = events.EpisodeReleased(
            subject=row.id,
            run=str(run.id),
            attempt=str(row.attempt_id) if row.attempt_id else None,
            reason=concealed(row.lift_reason),
        )
        log.append(event, by=by)
        transaction.on_commit(runs.wake_execute)
    return row


def _after_quarantine(run: EvaluationRun) -> str:
    if run.state == EvaluationRun.State.CANCELLED:
        return Episode.State.CANCELLED
    executes = run.state == EvaluationRun.State.EXECUTING
    return Episode.State.READY if executes else Episode.State.UNAVAILABLE


def _duty_of(switch: Switch) -> Duty:
    return Duty.HELD_OUT_GOVERNOR if switch == Switch.RELEASE else Duty.EVALUATION_ENGINEER


def _require(duty: Duty, reason: str, by: Actor) -> None:
    if by.kind != "system" and duty not in standing(by).duties:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)


def _lift(row: Order, reason: str, by: Actor) -> None:
    row.lifted_by, row.lifted_at, row.lift_reason = by.id, clock.now(), reason.strip()
    row.save(update_fields=["lifted_by", "lifted_at", "lift_reason"])
