"""Undoing a link that proved false: one reviewer proposes, another confirms; the organisations that moved go back.

One transaction each, with its audit events. Raises DutyRefused for what is not allowed, LinkRefused for what is over
or what a later link builds on.
"""

from __future__ import annotations

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.policies import may_decide
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import Decision
from accounts.linking import events, queries
from accounts.linking.models import LinkCase
from accounts.linking.refusals import LinkRefused
from accounts.linking.refusals import Reason as Why
from accounts.linking.services import hold_lineages, locked, person_of
from accounts.models import Organisation
from accounts.registration.policies import may_propose
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock

OF_PARTING = ["state", "parting_reason", "parting_by", "parting_at"]


def propose(case: LinkCase, *, reason: str, by: Actor) -> None:
    """Be the first of the two."""
    with refusing(), transaction.atomic():
        row = locked(case, LinkCase.State.LINKED)
        _require_reviewer(row, by)
        if not reason.strip():
            raise DutyRefused(Reason.NO_REASON)
        _require_last(row)
        row.state, row.parting_reason = LinkCase.State.PARTING, reason.strip()
        row.parting_by, row.parting_at = person_of(by), clock.now()
        row.save(update_fields=OF_PARTING)
        event = events.LinkPartingProposed(
            subject=row.id,
            proposed_by=by.id,
            at=timestamp(row.parting_at),
            reason=concealed(row.parting_reason),
        )
        log.append(event, by=by)
    case.refresh_from_db()


def send_back(case: LinkCase, *, by: Actor) -> None:
    """Do not confirm: the link stays."""
    with refusing(), transaction.atomic():
        row = locked(case, LinkCase.State.PARTING)
        _require_reviewer(row, by)
        row.state, row.parting_reason = LinkCase.State.LINKED, ""
        row.parting_by = row.parting_at = None
        row.save(update_fields=OF_PARTING)
        log.append(events.LinkPartingReturned(subject=row.id, returned_by=by.id), by=by)
    case.refresh_from_db()


def decide(case: LinkCase, *, by: Actor) -> None:
    """Be the second of the two: from now on each side draws on its own allowance, with what it has used itself."""
    second = duties.standing(by)
    with refusing(), transaction.atomic():
        hold_lineages()
        row = locked(case, LinkCase.State.PARTING)
        assert row.parting_by is not None
        first = duties.standing_of(row.parting_by)
        if refusal := may_decide(Decision.IDENTITY, first, second, concerned=queries.lineages_now(row)):
            raise DutyRefused(refusal)
        _require_last(row)
        row.state = LinkCase.State.PARTED
        row.parted_by, row.parted_at = person_of(by), clock.now()
        row.save(update_fields=["state", "parted_by", "parted_at"])
        event = events.LinkParted(subject=row.id, decided_by=by.id, at=timestamp(row.parted_at))
        log.append(event, by=by)
        _part(row, by)
    case.refresh_from_db()


def _part(case: LinkCase, by: Actor) -> None:
    """Those that the link moved go back to their lineage; nobody where it moved nobody."""
    for organisation in Organisation.objects.select_for_update().filter(pk__in=case.moved):
        assert case.absorbed_id is not None
        organisation.lineage_id = case.absorbed_id
        organisation.save(update_fields=["lineage"])
        event = events.LineageChanged(
            subject=organisation.id,
            before=str(case.into_id),
            lineage=str(case.absorbed_id),
            case=str(case.id),
        )
        log.append(event, by=by)


def _require_reviewer(case: LinkCase, by: Actor) -> None:
    person = duties.standing(by)
    for lineage in queries.lineages_now(case):
        if refusal := may_propose(person, lineage=lineage):
            raise DutyRefused(refusal)


def _require_last(case: LinkCase) -> None:
    if queries.built_on(case) is not None:
        raise LinkRefused(Why.BUILT_ON)
