"""Holds: ordered, placed, extended, ended. One transaction each, with its event.

A hold is placed by the release tick, in place of the release. While it lasts nothing of the result is shown; an appeal
against it suspends nothing. At its deadline the result is released: nothing is voided by waiting.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.policies import Standing
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import DECISIONS, Decision
from accounts.models import User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock
from governance.desk import events, policies
from governance.desk.models import Hold, HoldDecision, HoldOrder
from governance.desk.policies import LET_GO, OPEN, Why
from governance.desk.rules import GROUNDS, ORDERED, RULES
from governance.models import Release
from governance.services import is_due, release_held
from governance.watch.models import Alarm
from submissions.models import Slot, Submission
from submissions.policies.states import IN_FLIGHT
from submissions.problems import Code, refuse
from submissions.services import conclude, slots
from submissions.services.moves import locked
from submissions.services.telling import facts_of, recipients
from submissions.webhooks.services import enqueue_move

State = Hold.State
RULE = DECISIONS[Decision.HOLD]
HOLDABLE = (Submission.State.GRADING, Submission.State.INCOMPLETE)
ENDING = ("state", "state_since", "ended_at", "why", "ended_by", "ground", "ruling")
MOVED = {HoldDecision.Kind.EXTEND: State.EXTENDED, HoldDecision.Kind.VOID: State.VOIDED}


def order_hold(submission: Submission, *, reason: str, by: Actor) -> HoldOrder:
    """Have a submission that is under way held once its result would be released; one governor does.

    Raises Refused: hold_not_possible; DutyRefused.
    """
    person = _governor(submission, reason=reason, by=by)
    with transaction.atomic():
        row = locked(submission.pk)
        if (
            row.is_preflight
            or row.state not in IN_FLIGHT
            or HoldOrder.objects.filter(submission=row).exists()
        ):
            raise refuse(Code.HOLD_NOT_POSSIBLE, state=row.state)
        order = HoldOrder.objects.create(
            submission=row, ordered_by=person, reason=reason.strip(), ordered_at=clock.now()
        )
        event = events.HoldOrdered(subject=row.id, ordered_by=by.id, reason=concealed(order.reason))
        log.append(event, by=by)
    return order


def hold_if_due(submission: Submission, *, by: Actor) -> Hold | None:
    """The open hold of a result whose release is due; it is placed where something asks for one. Else None.

    Called on the release tick before the release; a result that the vendor kept incomplete is held like any other.
    """
    with transaction.atomic():
        row = Submission.objects.select_for_update().get(pk=submission.pk)
        known = Hold.objects.filter(submission=row).first()
        if known is not None:
            return known if known.state in OPEN else None
        if row.state not in HOLDABLE or not is_due(row):
            return None
        asking = Alarm.objects.filter(submission=row, kind=Alarm.Kind.HOLD, channel__in=RULES)
        alarms = list(asking.order_by("-statistic", "id"))
        if alarms:
            return place_hold(row, rule=alarms[0].channel, alarms=[alarm.pk for alarm in alarms], by=by)
        order = HoldOrder.objects.filter(submission=row).select_related("ordered_by").first()
        if order is None:
            return None
        return _place(row, ORDERED, (), order.ordered_by, by=by)


def place_hold(submission: Submission, *, rule: str, alarms: Iterable[UUID], by: Actor) -> Hold:
    """Hold a result before its release for what alarms say: → held, for ten working days, and tell the vendor.

    People order a hold instead. Raises ValueError for a rule that no alarm has, Refused: hold_not_possible,
    move_not_possible.
    """
    if rule not in RULES or rule == ORDERED:
        raise ValueError(f"{rule!r} is no rule under which a result is held by an alarm")
    with transaction.atomic():
        return _place(locked(submission.pk), rule, alarms, None, by=by)


def _place(row: Submission, rule: str, alarms: Iterable[UUID], person: User | None, *, by: Actor) -> Hold:
    if row.state not in HOLDABLE or Hold.objects.filter(submission=row).exists():
        raise refuse(Code.HOLD_NOT_POSSIBLE, state=row.state)
    now = clock.now()
    hold = Hold.objects.create(
        submission=row,
        rule=rule,
        state_since=now,
        placed_at=now,
        placed_by=person,
        due_at=policies.hold_due(now),
    )
    event = events.HoldPlaced(
        subject=row.id,
        hold=str(hold.id),
        rule=rule,
        at=timestamp(now),
        due_at=timestamp(hold.due_at),
        alarms=sorted(map(str, alarms)) or None,
        placed_by=str(person.pseudonym) if person else None,
    )
    log.append(event, by=by)
    conclude(row, Submission.State.HELD, facts=_facts(hold), by=by)
    return hold


def propose(submission: Submission, kind: str, *, reason: str, by: Actor, ground: str = "") -> HoldDecision:
    """Propose to extend the hold once, or to void what is held on one of `rules.GROUNDS`.

    Raises Refused: hold_over, hold_decision_open; DutyRefused; ValueError for another kind or ground.
    """
    if kind not in MOVED or (kind == "void") != (ground in GROUNDS):
        raise ValueError(f"{kind!r} on the ground {ground!r} is no decision about a hold")
    person = _governor(submission, reason=reason, by=by)
    with transaction.atomic():
        hold = _movable(submission, MOVED[HoldDecision.Kind(kind)])
        if HoldDecision.objects.filter(submission=submission, kind=kind, withdrawn_at=None).exists():
            raise refuse(Code.HOLD_DECISION_OPEN)
        row = HoldDecision.objects.create(
            submission_id=hold.submission_id,
            kind=kind,
            ground=ground,
            reason=reason.strip(),
            proposed_by=person,
            proposed_at=clock.now(),
        )
        event = events.HoldDecisionProposed(
            subject=hold.submission_id,
            decision=str(row.id),
            wanted=kind,
            proposed_by=by.id,
            reason=concealed(row.reason),
            ground=ground or None,
        )
        log.append(event, by=by)
    return row


def approve(which: UUID, *, by: Actor) -> Hold:
    """Be the second person: the hold is extended now, or what is held is voided.

    Raises Refused: hold_over; DutyRefused.
    """
    with refusing(), transaction.atomic():
        row = _open(which)
        hold = _movable(row.submission, MOVED[HoldDecision.Kind(row.kind)])
        duties.require(
            decision_about(row.submission),
            proposed=row.proposed_by.actor("web"),
            approved=by,
            concerned=_concerned(row.submission),
        )
        row.approved_by, row.approved_at = User.objects.get(pseudonym=by.id), clock.now()
        row.save(update_fields=["approved_by", "approved_at"])
        event = events.HoldDecisionApproved(
            subject=row.submission_id,
            decision=str(row.id),
            wanted=row.kind,
            approved_by=by.id,
            at=timestamp(row.approved_at),
        )
        log.append(event, by=by)
        if row.kind == HoldDecision.Kind.EXTEND:
            _extend(hold, row, by=by)
        else:
            hold.ground = row.ground
            _end(hold, State.VOIDED, Why.TWO_PEOPLE, decision=row.id, by=by)
    return hold


def withdraw(which: UUID, *, by: Actor) -> HoldDecision:
    """Take a proposal back, or decline it: one of those who could decide does. Raises DutyRefused."""
    with transaction.atomic():
        row = _open(which)
        rule = DECISIONS[decision_about(row.submission)]
        _require(row.submission, duties.standing(by), rule.proposers | rule.approvers)
        row.withdrawn_by, row.withdrawn_at = User.objects.get(pseudonym=by.id), clock.now()
        row.save(update_fields=["withdrawn_by", "withdrawn_at"])
        event = events.HoldDecisionWithdrawn(
            subject=row.submission_id,
            decision=str(row.id),
            wanted=row.kind,
            withdrawn_by=by.id,
            at=timestamp(row.withdrawn_at),
        )
        log.append(event, by=by)
    return row


def lift_hold(submission: Submission, *, reason: str, by: Actor) -> Hold:
    """End the hold as a false alarm: the use is returned, the cooldown ends, the result comes with the next tick.

    A governor does, and not the one who ordered the hold; in a case of the operator's an arbiter. Raises Refused:
    hold_over; DutyRefused.
    """
    return _end_by_one(submission, State.LIFTED, Why.FALSE_ALARM, reason=reason, by=by)


def release_early(submission: Submission, *, reason: str, by: Actor) -> Hold:
    """End the review before its deadline: the alarm stands, the result comes with the next tick.

    Raises as `lift_hold`.
    """
    return _end_by_one(submission, State.RELEASED, Why.REVIEWED, reason=reason, by=by)


def lift_as_ruled(submission: Submission, *, ruling: UUID, by: Actor) -> Hold:
    """`lift_hold` as the effect of a ruling, behind which are two people already. Raises Refused: hold_over."""
    with transaction.atomic():
        hold = _movable(submission, State.LIFTED)
        hold.ruling = ruling
        return _end(hold, State.LIFTED, Why.RULING, by=by)


def void_held(submission: Submission, *, ruling: UUID, by: Actor) -> Hold:
    """Void what is held as the effect of a ruling, behind which are two people already. Raises Refused: hold_over."""
    with transaction.atomic():
        hold = _movable(submission, State.VOIDED)
        hold.ruling = ruling
        return _end(hold, State.VOIDED, Why.RULING, by=by)


def let_go(submission: Submission, *, by: Actor) -> Release | None:
    """End a hold whose deadline has passed, and release the result of one that is over, on the tick after its end.

    Nothing is voided here: that takes two people.
    """
    with transaction.atomic():
        hold = _held(submission)
        if hold is None:
            return None
        if hold.state in OPEN and clock.now() >= hold.until:
            _end(hold, State.RELEASED, Why.DEADLINE, by=by)
        if hold.state not in LET_GO or hold.ended_at is None:
            return None
        return release_held(submission, over_at=hold.ended_at, by=by)


def decision_about(submission: Submission) -> Decision:
    """Which two people decide: in a case of the operator's own, one of them is an arbiter."""
    return Decision.OPERATOR_CASE if submission.organisation.is_operator else Decision.HOLD


def _governor(submission: Submission, *, reason: str, by: Actor) -> User:
    """Whoever acts, if they may propose decisions about this submission, and say why."""
    _require(submission, duties.standing(by), RULE.proposers)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)
    return User.objects.get(pseudonym=by.id)


def _require(submission: Submission, standing: Standing, entitled: frozenset[object]) -> None:
    if not standing.duties & entitled:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if standing.lineages & _concerned(submission):
        raise DutyRefused(Reason.OWN_CASE)


def _concerned(submission: Submission) -> frozenset[UUID]:
    """The lineage that the use was counted for, and that of the organisation now."""
    slot = Slot.objects.get(submission=submission)
    return frozenset({slot.lineage_id, submission.organisation.lineage_id})


def _held(submission: Submission) -> Hold | None:
    """The hold with its submission, both under a lock until the transaction ends."""
    locked(submission.pk)
    rows = Hold.objects.select_for_update(of=("self",)).select_related("submission__organisation")
    return rows.filter(submission=submission).first()


def _movable(submission: Submission, to: str) -> Hold:
    hold = _held(submission)
    if hold is None or not policies.may_move_hold(hold.state, to, until=hold.until, now=clock.now()):
        raise refuse(Code.HOLD_OVER)
    return hold


def _open(which: UUID) -> HoldDecision:
    """The proposal, held until the transaction ends. Raises DutyRefused where it is decided."""
    row = (
        HoldDecision.objects.select_for_update(of=("self",))
        .select_related("submission__organisation", "proposed_by")
        .get(pk=which)
    )
    if row.state != "proposed":
        raise DutyRefused(Reason.IS_CONFIRMED if row.state == "approved" else Reason.IS_OVER)
    return row


def _extend(hold: Hold, decision: HoldDecision, *, by: Actor) -> None:
    hold.state, hold.state_since = State.EXTENDED, clock.now()
    hold.extended_until = policies.hold_extended(hold.placed_at)
    hold.save(update_fields=["state", "state_since", "extended_until"])
    submission = hold.submission
    submission.reason_facts = _facts(hold)
    submission.save(update_fields=["reason_facts"])
    event = events.HoldExtended(
        subject=hold.submission_id,
        hold=str(hold.id),
        decision=str(decision.id),
        until=timestamp(hold.extended_until),
    )
    log.append(event, by=by)
    _tell(hold, Kind.SUBMISSION_HOLD_EXTENDED)
    enqueue_move(submission, at=hold.state_since)


def _end_by_one(submission: Submission, to: Hold.State, why: Why, *, reason: str, by: Actor) -> Hold:
    entitled = DECISIONS[decision_about(submission)].approvers
    _require(submission, duties.standing(by), entitled)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)
    with refusing(), transaction.atomic():
        hold = _movable(submission, to)
        hold.ended_by = User.objects.get(pseudonym=by.id)
        return _end(hold, to, why, reason=reason.strip(), by=by)


def _end(
    hold: Hold, to: Hold.State, why: Why, *, by: Actor, reason: str = "", decision: UUID | None = None
) -> Hold:
    """The end of a hold with what follows from it: a void ends the submission, a false alarm costs nothing."""
    now = clock.now()
    hold.state, hold.state_since, hold.ended_at, hold.why = to, now, now, why
    hold.save(update_fields=ENDING)
    event = events.HoldEnded(
        subject=hold.submission_id,
        hold=str(hold.id),
        end=to,
        why=why,
        at=timestamp(now),
        reason=concealed(reason) if reason else None,
        ended_by=str(hold.ended_by_id) if hold.ended_by_id else None,
        decision=str(decision) if decision else None,
        ruling=str(hold.ruling) if hold.ruling else None,
        ground=hold.ground or None,
    )
    log.append(event, by=by)
    if to == State.VOIDED:
        facts = {"ground": hold.ground} if hold.ground else {}
        conclude(hold.submission, Submission.State.VOIDED, facts=facts, by=by)
    if to == State.LIFTED:
        _return_use(hold, by=by)
        _tell(hold, Kind.SUBMISSION_HOLD_LIFTED)
    return hold


def _return_use(hold: Hold, *, by: Actor) -> None:
    row = locked(hold.submission_id)
    if row.slot.state == Slot.State.CONSUMED:
        slots.give_back(row, cause=Code.HOLD_LIFTED, by=by)
    slots.lift_cooldown(row, cause=Code.HOLD_LIFTED, by=by)


def _facts(hold: Hold) -> dict[str, str]:
    """What the submission's own reason says of its hold."""
    return {"rule": hold.rule, "until": minute(hold.until)}


def minute(instant: datetime) -> str:
    """An instant as sentences carry it, to the minute, in UTC."""
    return f"{instant:%Y-%m-%d %H:%M} UTC"


def _tell(hold: Hold, kind: Kind) -> None:
    row = locked(hold.submission_id)
    notify(
        recipients(row),
        kind,
        subject=row.id,
        facts=facts_of(row) | {"rule": hold.rule, "until": hold.until.isoformat()},
        organisation=row.organisation,
    )
