"""What staff do with an appeal: admit it, name who examines it, write down what was found, draft a ruling, approve it.

Whoever is bound to the case is refused before anything else, and the refusal is on record.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import ASSIGNED, DECISIONS, DUTIES, Decision, Duty, Sight
from accounts.models import User
from audit import log
from audit.events import Actor
from audit.texts import concealed
from config import clock
from governance.appeals import conflicts, events, policies, queries, wording
from governance.appeals.models import Appeal, Draft, Handling, RuledEffect, Ruling
from governance.appeals.policies import Cause, Effect, Outcome, State, Subject
from governance.appeals.services.moving import locked, move, require_state
from governance.appeals.services.rechecking import name_panel
from submissions.problems import Code, Refusal, Refused, refuse

RULE = DECISIONS[Decision.APPEAL]
DECIDERS = RULE.proposers | RULE.approvers
ARBITERS = RULE.approvers
SEE_HELD_OUT = frozenset(duty for duty in ASSIGNED if Sight.HELD_OUT in DUTIES[duty].sees)
GIVEN_UP = 2
"""Escalations after which a ruling no longer waits for the blind re-check."""


def admit(which: UUID, *, by: Actor) -> Appeal:
    """Find the appeal admissible."""
    _say(which, by, DECIDERS)
    with transaction.atomic():
        row = locked(which)
        require_state(row, State.FILED)
        _require_turn(row, by)
        move(row, State.ADMITTED, cause=Cause.FOUND_ADMISSIBLE, by=by)
    return row


def dismiss(which: UUID, *, reason: str, by: Actor) -> Appeal:
    """Find it inadmissible, as an arbiter, with a reason that the vendor reads."""
    _say(which, by, ARBITERS)
    with transaction.atomic():
        row = locked(which)
        require_state(row, State.FILED)
        _require_turn(row, by)
        text = wording.cleared(reason, row)
        _rule(row, Outcome.INADMISSIBLE, text, (), proposed_by=None, by=by)
        move(row, State.INADMISSIBLE, cause=Cause.FOUND_INADMISSIBLE, by=by)
    return row


def assign(which: UUID, *, expert: User, engineer: User, by: Actor, second: User | None = None) -> Handling:
    """Name the business expert, a task author, and the evaluation engineer who examine it.

    Where it is about a score, expert and `second` judge runs again. Raises DutyRefused where one does not hold the
    duty, and Refused (appeal_recheck_panel, or the conflict of whoever is bound to the case).
    """
    _say(which, by, DECIDERS)
    with transaction.atomic():
        row = locked(which)
        require_state(row, State.ADMITTED)
        _require_turn(row, by)
        _require_fit(row, expert, frozenset({Duty.TASK_AUTHOR}))
        _require_fit(row, engineer, frozenset({Duty.EVALUATION_ENGINEER}))
        if (second is not None) is not (row.subject == Subject.SCORE) or second == expert:
            raise refuse(Code.APPEAL_RECHECK_PANEL)
        made = Handling.objects.create(
            appeal=row,
            expert=expert,
            engineer=engineer,
            named_by=_person(by),
            named_at=clock.now(),
        )
        event = events.AppealAssigned(
            subject=row.id, expert=str(expert.pseudonym), engineer=str(engineer.pseudonym)
        )
        log.append(event, by=by)
        if second is not None:
            _require_fit(row, second, SEE_HELD_OUT)
            name_panel(row, expert, second, by=by)
        move(row, State.ASSIGNED, cause=Cause.PEOPLE_NAMED, by=by)
    return made


def _require_fit(row: Appeal, person: User, entitled: frozenset[Duty]) -> None:
    """Raise unless the person holds one of these duties and is not bound to the case."""
    if not duties.duties_of(person) & entitled:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if found := conflicts.conflict_of(person, row):
        raise refuse(found)


def write_opinion(which: UUID, *, text: str, by: Actor) -> Handling:
    """What the business expert found, for the staff alone."""
    return _write(which, "opinion", text, by)


def write_notes(which: UUID, *, text: str, by: Actor) -> Handling:
    """The evaluation engineer's evidence, for the staff alone."""
    return _write(which, "notes", text, by)


def _write(which: UUID, part: str, text: str, by: Actor) -> Handling:
    needed = {"opinion": Duty.TASK_AUTHOR, "notes": Duty.EVALUATION_ENGINEER}[part]
    _say(which, by, {needed})
    if not text.strip():
        raise DutyRefused(Reason.NO_REASON)
    with transaction.atomic():
        row = locked(which)
        require_state(row, State.ASSIGNED)
        handling = Handling.objects.select_for_update().get(appeal=row)
        named = handling.expert_id if part == "opinion" else handling.engineer_id
        if str(named) != by.id:
            raise refuse(Code.APPEAL_NOT_NAMED)
        setattr(handling, part, text.strip())
        setattr(handling, f"{part}_at", clock.now())
        handling.save(update_fields=[part, f"{part}_at"])
        log.append(events.AppealEvidence(subject=row.id, part=part, text=concealed(text.strip())), by=by)
    return handling


def draft(which: UUID, *, outcome: str, text: str, effects: Collection[str], by: Actor) -> Draft:
    """Draft the ruling: the engineer who was named, or an arbiter. The expert's opinion comes before.

    Raises Refused: appeal_text_leaks, appeal_effect_not_possible, appeal_recheck_runs, appeal_not_named.
    """
    _say(which, by, RULE.proposers)
    ordered = sorted({str(Effect(one)) for one in effects})
    with transaction.atomic():
        row = locked(which)
        require_state(row, State.ASSIGNED)
        handling = Handling.objects.get(appeal=row)
        is_arbiter = bool(_standing(by) & ARBITERS)
        if not is_arbiter and str(handling.engineer_id) != by.id:
            raise refuse(Code.APPEAL_NOT_NAMED)
        if row.escalations < GIVEN_UP and queries.recheck_runs(row):
            raise refuse(Code.APPEAL_RECHECK_RUNS)
        if not policies.may_order(row.subject, Outcome(outcome), ordered):
            raise refuse(Code.APPEAL_EFFECT_NOT_POSSIBLE)
        if outcome == Outcome.REJECTED and queries.is_below(row):
            raise refuse(Code.APPEAL_EFFECT_NOT_POSSIBLE)
        clean = wording.cleared(text, row)
        made = Draft.objects.create(
            appeal=row,
            number=row.drafts.count() + 1,
            outcome=outcome,
            text=clean,
            effects=ordered,
            proposed_by=_person(by),
            proposed_at=clock.now(),
        )
        event = events.AppealDrafted(
            subject=row.id,
            number=made.number,
            ruling=outcome,
            text=concealed(clean),
            effects=ordered,
            proposed_by=by.id,
        )
        log.append(event, by=by)
        move(row, State.DRAFTED, cause=Cause.RULING_DRAFTED, by=by)
    return made


def approve(which: UUID, *, by: Actor) -> Ruling:
    """Be the second person: the ruling is given now, and what it orders is carried out by the tick."""
    _say(which, by, ARBITERS)
    with refusing(), transaction.atomic():
        row = locked(which)
        require_state(row, State.DRAFTED)
        _require_turn(row, by)
        found = _open_draft(row)
        duties.require(
            Decision.APPEAL,
            proposed=found.proposed_by.actor("web"),
            approved=by,
            concerned={row.lineage_id, row.organisation.lineage_id},
        )
        _decide(found, Draft.Decision.APPROVED, by)
        # What was clean when it was drafted is looked at again: the version's secrets may have grown since.
        text = wording.cleared(found.text, row)
        made = _rule(
            row, Outcome(found.outcome), text, found.effects, proposed_by=str(found.proposed_by_id), by=by
        )
        move(row, State.RULED, cause=Cause.RULING_APPROVED, by=by)
    return made


def send_back(which: UUID, *, remark: str, by: Actor) -> Draft:
    """Do not approve it, with a remark for whoever drafted it; another draft follows."""
    _say(which, by, ARBITERS)
    if not remark.strip():
        raise DutyRefused(Reason.NO_REASON)
    with refusing(), transaction.atomic():
        row = locked(which)
        require_state(row, State.DRAFTED)
        _require_turn(row, by)
        found = _open_draft(row)
        if str(found.proposed_by_id) == by.id:
            raise DutyRefused(Reason.ONE_PERSON)
        found.remark = remark.strip()
        _decide(found, Draft.Decision.SENT_BACK, by)
        move(row, State.ASSIGNED, cause=Cause.SENT_BACK, by=by)
    return found


def _open_draft(row: Appeal) -> Draft:
    rows = Draft.objects.select_for_update(of=("self",)).select_related("proposed_by")
    return rows.get(appeal=row, decision=Draft.Decision.OPEN)


def _decide(found: Draft, decision: str, by: Actor) -> None:
    found.decision, found.decided_by, found.decided_at = decision, _person(by), clock.now()
    found.save(update_fields=["decision", "decided_by", "decided_at", "remark"])


def _rule(
    row: Appeal,
    outcome: Outcome,
    text: str,
    effects: Sequence[str],
    *,
    proposed_by: str | None,
    by: Actor,
) -> Ruling:
    made = Ruling.objects.create(appeal=row, outcome=outcome, text=text, ruled_at=clock.now())
    wanted = sorted({*effects, Effect.LINE.value}) if outcome != Outcome.INADMISSIBLE else []
    if queries.is_below(row):  # the re-check orders it, whatever the draft says
        wanted = sorted({*wanted, Effect.REGRADE.value})
    RuledEffect.objects.bulk_create([RuledEffect(appeal=row, kind=kind) for kind in wanted])
    event = events.AppealRuled(
        subject=row.id,
        ruling=outcome.value,
        text=concealed(text),
        effects=wanted,
        proposed_by=proposed_by,
        approved_by=by.id,
    )
    log.append(event, by=by)
    return made


def _say(which: UUID, by: Actor, entitled: Collection[Duty]) -> None:
    """Raise unless this person may have a say at all; a conflict is put on record before it is refused."""
    row = Appeal.objects.select_related("organisation").get(pk=which)
    if not _standing(by) & frozenset(entitled):
        raise DutyRefused(Reason.NOT_ENTITLED)
    found = conflicts.conflict_of(_person(by), row)
    if found is None:
        return
    with transaction.atomic():
        log.append(events.AppealConflict(subject=row.id, reason=found.value), by=by)
    raise Refused(Refusal(found))


def _require_turn(row: Appeal, by: Actor) -> None:
    """Once the answer is late, only an arbiter from outside decides."""
    if row.escalations and not conflicts.is_from_outside(_person(by)):
        raise refuse(Code.APPEAL_OUTSIDE_NEEDED)


def _standing(by: Actor) -> frozenset[Duty]:
    return duties.standing(by).duties


def _person(by: Actor) -> User:
    return User.objects.get(pseudonym=by.id)
