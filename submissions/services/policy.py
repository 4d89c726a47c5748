"""Opening and closing task sets, dated policy rows, admission stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from accounts.duties.policies import may_decide
from accounts.duties.queries import standing_of
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Decision
from accounts.models import Lineage, User
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from benchmark import services as benchmark
from benchmark.models import TaskSetVersion
from config import clock
from submissions import events
from submissions.models import AdmissionStop, QuotaPolicy

OFFICIAL: Mapping[str, int] = {
    "line": 3,
    "lineage": 5,
    "account": 3,
    "in_flight": 1,
    "preflight": 3,
    "cooldown_seconds": 7 * 24 * 3600,
    "runs_per_task": 3,
}
"""The official numbers of a version, by rule."""

DEMO: Mapping[str, int] = {**OFFICIAL, "cooldown_seconds": 0, "runs_per_task": 1, "preflight": 20}
"""The demo policy: labelled as such on every page."""

PROFILES: Mapping[str, Mapping[str, int]] = {"official": OFFICIAL, "demo": DEMO}


def policy_people(people: Sequence[User]) -> tuple[User, User]:
    """Who proposes and who approves a change of policy, in this order. Raises DutyRefused unless these two may."""
    if len(people) != 2:
        raise DutyRefused(Reason.NOT_ENTITLED)
    first, second = people
    if reason := may_decide(Decision.POLICY_CHANGE, standing_of(first), standing_of(second)):
        raise DutyRefused(reason)
    return first, second


def open_task_set(
    version: TaskSetVersion,
    *,
    profile: str,
    by: Actor,
    numbers: Mapping[str, int] | None = None,
    people: Sequence[User] = (),
) -> None:
    """Let a frozen version take submissions from now on, under `profile`'s numbers with `numbers` in place of some.

    Opening twice changes nothing. Raises TaskSetRefused for a draft, ValueError for an unknown profile or rule.
    """
    if profile not in PROFILES:
        raise ValueError(f"no such profile: {profile}")
    with transaction.atomic():
        TaskSetVersion.objects.select_for_update().get(pk=version.pk)
        if not QuotaPolicy.objects.filter(task_set=version).exists():
            chosen = {**PROFILES[profile], **(numbers or {})}
            set_policy(version, profile=profile, numbers=chosen, by=by, people=people)
        benchmark.open_version(version, by=by)


def close_task_set(version: TaskSetVersion, *, by: Actor) -> None:
    """Take no more submissions; what was admitted runs to its end."""
    with transaction.atomic():
        locked = TaskSetVersion.objects.select_for_update().get(pk=version.pk)
        if locked.closed_at is None:
            locked.closed_at = clock.now()
            locked.save(update_fields=["closed_at"])
            log.append(events.TaskSetClosed(subject=locked.id), by=by)
    version.refresh_from_db()


def set_policy(
    version: TaskSetVersion,
    *,
    profile: str,
    numbers: Mapping[str, int],
    by: Actor,
    valid_from: datetime | None = None,
    people: Sequence[User] = (),
) -> None:
    """New rows for the rules in `numbers`, in force from `valid_from` (now) on; earlier rows stay as history."""
    unknown = set(numbers) - set(QuotaPolicy.Rule.values)
    if unknown:
        raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
    start = valid_from or clock.now()
    with transaction.atomic():
        QuotaPolicy.objects.bulk_create(
            QuotaPolicy(task_set=version, profile=profile, rule=rule, value=value, valid_from=start)
            for rule, value in sorted(numbers.items())
        )
        event = events.QuotaPolicySet(
            subject=version.id,
            profile=profile,
            rules=dict(numbers),
            valid_from=timestamp(start),
            people=[str(person.pseudonym) for person in people] or None,
        )
        log.append(event, by=by)


def stop_admission(
    version: TaskSetVersion,
    *,
    cause: str,
    by: Actor,
    lineage: Lineage | None = None,
    until: datetime | None = None,
) -> AdmissionStop:
    """Admit nobody of `lineage` (nobody at all, where None) to the version until it is lifted or `until` has come."""
    with transaction.atomic():
        stop = AdmissionStop.objects.create(
            task_set=version, lineage=lineage, cause=cause, since=clock.now(), until=until
        )
        event = events.AdmissionStopped(
            subject=version.id,
            cause=cause,
            lineage=str(lineage.pk) if lineage else None,
            until=timestamp(until) if until else None,
        )
        log.append(event, by=by)
    return stop


def lift_stop(stop: AdmissionStop, *, by: Actor) -> None:
    with transaction.atomic():
        locked = AdmissionStop.objects.select_for_update().get(pk=stop.pk)
        if locked.lifted_at is None:
            locked.lifted_at = clock.now()
            locked.save(update_fields=["lifted_at"])
            lineage = str(locked.lineage_id) if locked.lineage_id else None
            event = events.AdmissionStopLifted(
                subject=locked.task_set_id, cause=locked.cause, lineage=lineage
            )
            log.append(event, by=by)
