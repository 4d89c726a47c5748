"""Who is told what about an appeal, in the transaction of what happened; the staff by the tick, which sees duties."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings

from accounts.duties.queries import staff_now
from accounts.duties.table import DECISIONS, Decision, Duty
from accounts.models import User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify, notify_organisation
from governance.appeals import conflicts
from governance.appeals.models import Appeal, Handling, Recheck, RecheckPanel
from governance.appeals.policies import STAGES, Owner, State, owner
from submissions.webhooks import services as webhooks
from submissions.webhooks.kinds import Kind as Hook

TOLD = {
    State.ADMITTED: Kind.APPEAL_ADMITTED,
    State.INADMISSIBLE: Kind.APPEAL_INADMISSIBLE,
    State.RULED: Kind.APPEAL_RULED,
    State.CARRIED_OUT: Kind.APPEAL_CARRIED_OUT,
    State.WITHDRAWN: Kind.APPEAL_WITHDRAWN,
}
"""Moves of which the vendor has a notice; the others stand on the page."""


def tell_filed(appeal: Appeal) -> None:
    _vendor(appeal, Kind.APPEAL_FILED)
    _hook(appeal)


def tell_move(appeal: Appeal) -> None:
    """Notices and webhooks of a move that was just made."""
    if kind := TOLD.get(State(appeal.state)):
        _vendor(appeal, kind)
    _hook(appeal)


def tell_late(appeal: Appeal) -> None:
    """The vendor is told that the answer is late, and who gives it now."""
    _vendor(appeal, Kind.APPEAL_LATE, occasion=str(appeal.escalations))
    _hook(appeal)


def tell_word_due(appeal: Appeal, recheck: Recheck) -> None:
    """The vendor's word is asked for."""
    facts = _facts(appeal) | {"deadline": recheck.word_due_at.isoformat()}
    notify_organisation(appeal.organisation, Kind.APPEAL_WORD_DUE, subject=appeal.id, facts=facts)


def tell_recheck(appeal: Appeal) -> None:
    """That the blind re-check is over; the figure stands on the page alone."""
    _vendor(appeal, Kind.APPEAL_RECHECKED)


def tell_judges(appeal: Appeal) -> None:
    """The two who judge runs again, once there is something to judge."""
    panel = RecheckPanel.objects.filter(appeal=appeal, appeal__recheck__state=Recheck.State.DRAWN).first()
    if panel is not None:
        people = _people((panel.first_id, panel.second_id))
        notify(
            people, Kind.APPEALS_JUDGING, subject=appeal.id, facts={"deadline": _facts(appeal)["deadline"]}
        )


def tell_turn(appeal: Appeal) -> None:
    """Tell those of the staff whose turn it is; the same turn again tells nobody twice."""
    turn = owner(appeal.state, escalations=appeal.escalations)
    if turn is None or turn is Owner.PLATFORM:
        return
    notify(
        whose(appeal, turn),
        Kind.APPEALS_WAITING,
        subject=appeal.id,
        facts=_facts(appeal),
        occasion=f"{appeal.state} {appeal.state_since.isoformat()} {appeal.escalations}",
    )


def whose(appeal: Appeal, turn: Owner) -> list[User]:
    """People whose turn it is. Where none is from outside, administrators are told to name one."""
    if turn is Owner.OUTSIDE:
        return conflicts.outsiders() or _holders({Duty.ADMINISTRATOR})
    if turn is Owner.ASSIGNED:
        named = Handling.objects.filter(appeal=appeal).values_list("expert", "engineer").first()
        return _people(named or ())
    rule = DECISIONS[Decision.APPEAL]
    duties = {
        Owner.DECIDERS: rule.proposers | rule.approvers,
        Owner.SECOND: rule.approvers,
        Owner.ENGINEERS: frozenset({Duty.EVALUATION_ENGINEER}),
    }[turn]
    return _holders(duties)


def _holders(duties: Iterable[Duty]) -> list[User]:
    wanted = frozenset(duties)
    return [person for person, held in staff_now() if held & wanted]


def _people(pseudonyms: Iterable[UUID]) -> list[User]:
    return list(User.objects.filter(pseudonym__in=list(pseudonyms)))


def _facts(appeal: Appeal) -> dict[str, object]:
    """Nothing of what the appeal says: a notice also goes by mail."""
    return {
        "appeal": str(appeal.id),
        "task_set": appeal.task_set.label,
        "state": appeal.state,
        "deadline": appeal.due_at.isoformat() if appeal.due_at else "",
        "days": STAGES[appeal.state].days if appeal.state in STAGES else 0,
    }


def _vendor(appeal: Appeal, kind: Kind, occasion: str = "") -> None:
    notify_organisation(appeal.organisation, kind, subject=appeal.id, facts=_facts(appeal), occasion=occasion)


def _hook(appeal: Appeal) -> None:
    at = appeal.state_since
    data = {
        "appeal": str(appeal.id),
        "subject": appeal.subject,
        "submission": str(appeal.submission_id) if appeal.submission_id else None,
        "task_set": appeal.task_set.label,
        "state": appeal.state,
        "due_at": appeal.due_at.isoformat() if appeal.due_at else None,
        "url": f"{settings.SITE_URL}/v/appeals/{appeal.id}/",
    }
    occasion = f"{at.isoformat()} {appeal.escalations}"
    webhooks.enqueue(
        appeal.organisation, webhooks.News(Hook.APPEAL_STATE, str(appeal.id), occasion, data, at)
    )
