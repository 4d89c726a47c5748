"""Appointing auditors and ending their terms: one transaction each, with its audit event."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Manager, Model

from accounts import events
from accounts.auditor_refusals import AuditorRefused, Reason
from accounts.models import AuditOrganisation, AuditorTerm, Membership, Organisation, User
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock

_DIGEST = re.compile(r"[0-9a-f]{64}")


def mark_audit_organisation(organisation: Organisation, *, by: Actor) -> AuditOrganisation:
    """Let people of this organisation be auditors; doing it again changes nothing.

    Raises AuditorRefused for the operator, and for whoever has harnesses or submissions.
    """
    if organisation.is_operator:
        raise AuditorRefused(Reason.OPERATOR)
    with transaction.atomic():
        # Whoever registers a harness holds this row until it stands; whoever comes after finds the mark.
        Organisation.objects.select_for_update().get(pk=organisation.pk)
        if any(_things_of(organisation, name).exists() for name in ("harnesses", "submissions")):
            raise AuditorRefused(Reason.ENTRANT)
        found, made = AuditOrganisation.objects.get_or_create(
            organisation=organisation, defaults={"since": clock.now()}
        )
        if made:
            log.append(events.AuditOrganisationMarked(subject=organisation.id), by=by)
    return found


def _things_of(organisation: Organisation, name: str) -> Manager[Model]:
    """By the name of the relation: submissions build on accounts, not the other way round."""
    found: Manager[Model] = getattr(organisation, name)
    return found


def appoint(
    person: User,
    organisation: AuditOrganisation,
    *,
    begins_at: datetime,
    ends_at: datetime,
    scope: str,
    declaration: str,
    by: Actor,
    people: Sequence[User] = (),
) -> AuditorTerm:
    """Make the person an auditor. `declaration` is the SHA-256 of the signed paper, in lower-case hex.

    `people` are the two administrators who stand behind it, where duties have begun.

    Raises AuditorRefused for staff and members of other organisations, and for a term without length or an empty
    scope.
    """
    _require_independent(person, organisation)
    if not _DIGEST.fullmatch(declaration):
        raise AuditorRefused(Reason.DECLARATION)
    if not scope.strip() or ends_at <= begins_at:
        raise AuditorRefused(Reason.TERM)
    with transaction.atomic():
        term = AuditorTerm.objects.create(
            person=person,
            organisation=organisation,
            begins_at=begins_at,
            ends_at=ends_at,
            scope=scope.strip(),
            declaration=declaration,
        )
        event = events.AuditorAppointed(
            subject=term.id,
            account=str(person.pseudonym),
            organisation=str(organisation.pk),
            begins=timestamp(begins_at),
            ends=timestamp(ends_at),
            scope=concealed(term.scope),
            declaration=declaration,
            people=[str(one.pseudonym) for one in people] or None,
        )
        log.append(event, by=by)
    return term


def _require_independent(person: User, organisation: AuditOrganisation) -> None:
    if part := _has_part(person, organisation):
        raise AuditorRefused(part)


def _has_part(person: User, organisation: AuditOrganisation) -> Reason | None:
    """What the person has to do with what is audited; None where nothing."""
    if person.is_staff or person.is_superuser:
        return Reason.STAFF
    if Membership.objects.filter(user=person).exclude(organisation_id=organisation.pk).exists():
        return Reason.MEMBER
    if person.duties.filter(confirmed_at__isnull=False, ended_at=None, ends_at__gt=clock.now()).exists():
        return Reason.DUTY
    return None


def end_term(term: AuditorTerm, *, by: Actor) -> None:
    """End the term now; doing it again changes nothing."""
    with transaction.atomic():
        locked = AuditorTerm.objects.select_for_update().get(pk=term.pk)
        if locked.ended_at is None:
            locked.ended_at = clock.now()
            locked.save(update_fields=["ended_at"])
            log.append(events.AuditorEnded(subject=locked.id), by=by)
    term.refresh_from_db()


def term_of(person: User) -> AuditorTerm | None:
    """The term by which the person is an auditor at this moment. An appointment does not outlive independence.

    Nor does it count while the organisation is suspended.
    """
    now = clock.now()
    rows = AuditorTerm.objects.select_related("organisation__organisation").filter(
        person=person, begins_at__lte=now, ends_at__gt=now, ended_at=None
    )
    term = rows.order_by("ends_at").last()
    if term is None or _has_part(person, term.organisation):
        return None
    if term.organisation.organisation.state == Organisation.State.SUSPENDED:
        return None
    return term


def actor_for(term: AuditorTerm) -> Actor:
    """The auditor, acting in the pages for the audit organisation."""
    return term.person.actor("web", str(term.organisation_id))
