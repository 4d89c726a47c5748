"""The quota ledger as written: counters locked, uses reserved, consumed and returned."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from accounts.models import Organisation
from audit import log
from audit.events import Actor
from audit.texts import concealed
from benchmark.models import TaskSetVersion
from config import clock
from submissions import events
from submissions.models import Harness, QuotaCounter, Slot, Submission
from submissions.policies.states import SLOT_MOVES
from submissions.problems import Code, refuse
from submissions.reruns import services as reruns


class LineageMoved(Exception):
    """While the counters were waited for, the organisation was linked with another: the wrong ones are held."""


# Two statements for the usual case, in which all counters are there. Each goes through them in one order, so that
# nobody waits for who waits for them: inserts wait in the order of the values, locks in that of the sort.
PLACES = (
    "(%(task_set)s::uuid, 'line', %(line)s::uuid), "
    "(%(task_set)s, 'lineage', (SELECT lineage_id FROM accounts_organisation WHERE id = %(organisation)s)), "
    "(%(task_set)s, 'account', %(account)s::uuid)"
)
MAKE = f"""
INSERT INTO submissions_quotacounter (id, task_set_id, kind, subject)
SELECT gen_random_uuid(), place.* FROM (VALUES {PLACES}) AS place (task_set_id, kind, subject) WHERE subject IS NOT NULL
ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants of this module
HOLD = f"""
SELECT kind, subject FROM submissions_quotacounter
 WHERE (task_set_id, kind, subject) IN (VALUES {PLACES})
 ORDER BY array_position(ARRAY['line', 'lineage', 'account'], kind::text) FOR UPDATE
"""  # noqa: S608 - constants of this module


def lock(task_set: TaskSetVersion, line: Harness, organisation: Organisation, account: UUID | None) -> None:
    """Hold the counters of line, lineage and account, in that order everywhere, until the transaction ends.

    Whoever links two lineages holds the counters of both; who waited for that is sent back by LineageMoved, and finds
    the lineage that is left when they begin again.
    """
    place = {"task_set": task_set.pk, "line": line.pk, "organisation": organisation.pk, "account": account}
    with connection.cursor() as cursor:
        cursor.execute(MAKE, place)
        cursor.execute(HOLD, place)
        held = dict(cursor.fetchall())
    organisation.lineage_id = _lineage_of(organisation)
    if held.get("lineage") != organisation.lineage_id:
        raise LineageMoved


def _lineage_of(organisation: Organisation) -> UUID:
    with connection.cursor() as cursor:
        cursor.execute("SELECT lineage_id FROM accounts_organisation WHERE id = %s", [organisation.pk])
        found: UUID = cursor.fetchone()[0]
        return found


def hold(task_set: TaskSetVersion, kind: str, subject: UUID) -> None:
    """Hold one counter until the transaction ends; it is made where it was not there."""
    place = {"task_set": task_set, "kind": kind, "subject": subject}
    if not QuotaCounter.objects.filter(**place).exists():
        QuotaCounter.objects.bulk_create([QuotaCounter(**place)], ignore_conflicts=True)
    QuotaCounter.objects.select_for_update().get(**place)


def reserve(submission: Submission, *, by: Actor, offer: UUID | None = None) -> Slot:
    """One use for a submission that was just admitted, outside the quota where it took `offer` of a re-run.

    The caller holds the counters' locks.
    """
    organisation, line = submission.organisation, submission.harness_version.harness
    slot = Slot.objects.create(
        submission=submission,
        task_set=submission.task_set,
        line=line,
        lineage_id=organisation.lineage_id,
        account_id=submission.account_id,
        offer_id=offer,
        cause=Code.ADMITTED,
        actor=named(by),
        reserved_at=submission.admitted_at,
    )
    event = events.SlotReserved(
        subject=slot.id,
        submission=str(submission.id),
        task_set=submission.task_set.label,
        line=str(line.id),
        lineage=str(organisation.lineage_id),
        offer=str(offer) if offer else None,
    )
    log.append(event, by=by)
    return slot


def consume(submission: Submission, *, cause: str, by: Actor) -> None:
    """The use is counted: held-out tasks start. Only a reserved one can be."""
    slot = _locked(submission, Slot.State.CONSUMED)
    slot.state, slot.cause, slot.actor = Slot.State.CONSUMED, cause, named(by)
    slot.consumed_at = clock.now()
    slot.save(update_fields=["state", "cause", "actor", "consumed_at"])
    event = events.SlotConsumed(subject=slot.id, submission=str(submission.id), cause=cause)
    log.append(event, by=by)


def give_back(submission: Submission, *, cause: str, by: Actor, reason: str = "") -> Slot:
    """The use is returned, once. Raises Refused: refund_not_possible."""
    slot = _locked(submission, Slot.State.REFUNDED)
    slot.state, slot.cause, slot.actor, slot.reason = Slot.State.REFUNDED, cause, named(by), reason
    slot.refunded_at = clock.now()
    slot.save(update_fields=["state", "cause", "actor", "reason", "refunded_at"])
    event = events.SlotRefunded(
        subject=slot.id,
        submission=str(submission.id),
        cause=cause,
        reason=concealed(reason) if reason else None,
    )
    log.append(event, by=by)
    reruns.reopen(slot, cause=cause, by=by)
    return slot


def lift_cooldown(submission: Submission, *, cause: str, by: Actor) -> None:
    """End the cooldown that this submission started, where there is one."""
    if submission.cooldown_until is None or submission.cooldown_ended_at is not None:
        return
    submission.cooldown_ended_at = clock.now()
    submission.save(update_fields=["cooldown_ended_at"])
    log.append(events.CooldownLifted(subject=submission.id, cause=cause), by=by)


def named(by: Actor) -> str:
    """The actor as the ledger stores it."""
    return f"{by.kind}:{by.id}"


def _locked(submission: Submission, to: str) -> Slot:
    slot = Slot.objects.select_for_update().get(submission=submission)
    if to not in SLOT_MOVES.get(slot.state, ()):
        raise refuse(Code.REFUND_NOT_POSSIBLE, state=slot.state)
    return slot
