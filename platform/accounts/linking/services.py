"""Cases of linked accounts: opened by signals, decided by two people; confirming joins the two allowances.

One transaction each, with its audit events. Raises DutyRefused for what is not allowed, LinkRefused for what is over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction

from accounts.duties import queries as duties
from accounts.duties.policies import may_decide
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import Decision
from accounts.linking import events, queries
from accounts.linking.models import LinkCase, NetworkMark
from accounts.linking.refusals import LinkRefused
from accounts.linking.refusals import Reason as Moved
from accounts.models import Organisation, User
from accounts.registration.marks import network_mark
from accounts.registration.policies import may_propose
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock

KEPT = timedelta(days=90)
"""How long marks of networks are kept and compared."""
Signal = tuple[str, str]
"""Kind and mark."""


def note_network(organisation: Organisation, address: str) -> None:
    """Remember coarsely where the organisation submits from; addresses that are not public leave nothing."""
    if mark := network_mark(address):
        row = NetworkMark(organisation=organisation, mark=mark, day=clock.now().date())
        NetworkMark.objects.bulk_create([row], ignore_conflicts=True)


def forget_networks() -> None:
    """Delete marks that are older than they are kept."""
    NetworkMark.objects.filter(day__lt=(clock.now() - KEPT).date()).delete()


def raise_case(one: UUID, other: UUID, signals: Iterable[Signal], *, by: Actor) -> LinkCase | None:
    """Open the pair's case, or add what is new to an open one; None where these signals were cleared before.

    However many find the same at once, there is one case.
    """
    first, second = sorted((one, other))
    found = {(kind, mark) for kind, mark in signals}
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"link {first} {second}"]
            )
        cases = list(LinkCase.objects.filter(first=first, second=second))
        known = {(kind, mark) for case in cases for kind, mark in case.signals}
        if not found - known or any(case.state in queries.JOINED for case in cases):
            return None
        under_way = next((case for case in cases if case.decided_at is None), None)
        if under_way is not None:
            return _extend(under_way, found - known, by)
        case = LinkCase.objects.create(
            first_id=first, second_id=second, signals=_listed(found), opened_at=clock.now()
        )
        event = events.LinkOpened(
            subject=case.id,
            first=str(first),
            second=str(second),
            signals=_kinds(found),
            evidence=concealed(json.dumps(_listed(found))),
        )
        log.append(event, by=by)
    return case


def _extend(case: LinkCase, further: set[Signal], by: Actor) -> LinkCase:
    case.signals = _listed({(kind, mark) for kind, mark in case.signals} | further)
    case.save(update_fields=["signals"])
    evidence = concealed(json.dumps(_listed(further)))
    log.append(events.LinkExtended(subject=case.id, signals=_kinds(further), evidence=evidence), by=by)
    return case


def propose(case: LinkCase, *, verdict: str, reason: str, by: Actor) -> None:
    """Be the first of the two."""
    person = duties.standing(by)
    with refusing(), transaction.atomic():
        row = locked(case, LinkCase.State.OPEN)
        for lineage in queries.lineages_now(row):
            if refusal := may_propose(person, lineage=lineage):
                raise DutyRefused(refusal)
        if not reason.strip():
            raise DutyRefused(Reason.NO_REASON)
        row.state, row.verdict = LinkCase.State.PROPOSED, LinkCase.Verdict(verdict)
        row.reason, row.proposed_by, row.proposed_at = reason.strip(), person_of(by), clock.now()
        row.save(update_fields=["state", "verdict", "reason", "proposed_by", "proposed_at"])
        event = events.LinkProposed(
            subject=row.id,
            verdict=row.verdict,
            proposed_by=by.id,
            at=timestamp(row.proposed_at),
            reason=concealed(row.reason),
        )
        log.append(event, by=by)
    case.refresh_from_db()


def send_back(case: LinkCase, *, by: Actor) -> None:
    """Do not confirm: the case waits for another proposal."""
    person = duties.standing(by)
    with refusing(), transaction.atomic():
        row = locked(case, LinkCase.State.PROPOSED)
        for lineage in queries.lineages_now(row):
            if refusal := may_propose(person, lineage=lineage):
                raise DutyRefused(refusal)
        row.state, row.verdict, row.reason = LinkCase.State.OPEN, "", ""
        row.proposed_by = row.proposed_at = None
        row.save(update_fields=["state", "verdict", "reason", "proposed_by", "proposed_at"])
        log.append(events.LinkReturned(subject=row.id, returned_by=by.id), by=by)
    case.refresh_from_db()


def decide(case: LinkCase, *, by: Actor) -> None:
    """Be the second of the two: clear the pair, or let both draw on one allowance from now on."""
    second = duties.standing(by)
    with refusing(), transaction.atomic():
        hold_lineages()
        row = locked(case, LinkCase.State.PROPOSED)
        assert row.proposed_by is not None
        lineages = queries.lineages_now(row)
        first = duties.standing_of(row.proposed_by)
        if refusal := may_decide(Decision.IDENTITY, first, second, concerned=lineages):
            raise DutyRefused(refusal)
        linked = row.verdict == LinkCase.Verdict.LINK
        row.state = LinkCase.State.LINKED if linked else LinkCase.State.CLEARED
        row.decided_by, row.decided_at = person_of(by), clock.now()
        if linked and len(lineages) > 1:
            row.into_id, row.absorbed_id = sorted(
                lineages
            )  # ids are ordered by creation: the older one stays
            moving = Organisation.objects.filter(lineage_id=row.absorbed_id).order_by("created_at")
            row.moved = [str(key) for key in moving.values_list("id", flat=True)]
        row.save(update_fields=["state", "decided_by", "decided_at", "into", "absorbed", "moved"])
        event = events.LinkDecided(
            subject=row.id,
            verdict=row.verdict,
            decided_by=by.id,
            at=timestamp(row.decided_at),
            absorbed=str(row.absorbed_id) if row.absorbed_id else None,
            into=str(row.into_id) if row.into_id else None,
        )
        log.append(event, by=by)
        _join(row, by)
    case.refresh_from_db()


def _join(case: LinkCase, by: Actor) -> None:
    """The organisations of the absorbed lineage move; none where nothing is absorbed."""
    if case.absorbed_id is None:
        return
    for organisation in Organisation.objects.select_for_update().filter(lineage_id=case.absorbed_id):
        assert case.into_id is not None
        organisation.lineage_id = case.into_id
        organisation.save(update_fields=["lineage"])
        event = events.LineageChanged(
            subject=organisation.id,
            before=str(case.absorbed_id),
            lineage=str(case.into_id),
            case=str(case.id),
        )
        log.append(event, by=by)


def locked(case: LinkCase, state: str) -> LinkCase:
    row = LinkCase.objects.select_for_update(no_key=True).get(pk=case.pk)
    if row.state != state:
        raise LinkRefused(Moved.MOVED)
    return row


def hold_lineages() -> None:
    """Until the transaction ends nobody else joins or parts lineages, so that what a link builds on stays."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('lineages', 0))")


def _listed(signals: set[Signal]) -> list[list[str]]:
    return [list(signal) for signal in sorted(signals)]


def _kinds(signals: set[Signal]) -> list[str]:
    return sorted({kind for kind, _ in signals})


def person_of(actor: Actor) -> User:
    return User.objects.get(pseudonym=actor.id)
