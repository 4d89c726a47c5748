"""What staff do about a registration: one identity reviewer proposes, another confirms or sends it back.

One transaction each, with its audit event. Raises DutyRefused and RegistrationRefused for what is not allowed.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts import names, services
from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused, refusing
from accounts.models import Organisation, PersonKey, User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify_organisation
from accounts.registration import events, policies
from accounts.registration.models import Registration, RegistrationDetails, RegistrationEvidence
from accounts.registration.refusals import Reason, RegistrationRefused
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock, store, vault

_ENDS = {
    Registration.Verdict.VERIFY: Registration.State.VERIFIED,
    Registration.Verdict.REFUSE: Registration.State.REFUSED,
    Registration.Verdict.MORE: Registration.State.MORE_ASKED,
}
_TOLD = {
    Registration.Verdict.REFUSE: Kind.ORGANISATION_REFUSED,
    Registration.Verdict.MORE: Kind.ORGANISATION_ASKED,
}


def propose(registration: Registration, *, verdict: str, ground: str, words: str, by: Actor) -> None:
    """Be the first of the two. `words` is what the organisation is told once the second has confirmed."""
    first = duties.standing(by)
    verdict = Registration.Verdict(verdict)
    with refusing(), transaction.atomic():
        row = _locked(registration, Registration.State.FILED, Reason.NOT_FILED)
        if reason := policies.may_propose(first, lineage=row.organisation.lineage_id):
            raise DutyRefused(reason)
        if verdict is not Registration.Verdict.VERIFY and not (ground and words.strip()):
            raise RegistrationRefused(Reason.NO_GROUND)
        if verdict is Registration.Verdict.VERIFY and row.domain_confirmed_at is None:
            raise RegistrationRefused(Reason.DOMAIN_OPEN)
        row.state, row.verdict = Registration.State.PROPOSED, verdict
        row.ground = "" if verdict is Registration.Verdict.VERIFY else ground
        row.words, row.proposed_by, row.proposed_at = words.strip(), _person(by), clock.now()
        row.save(update_fields=["state", "verdict", "ground", "words", "proposed_by", "proposed_at"])
        event = events.RegistrationProposed(
            subject=row.id,
            verdict=row.verdict,
            ground=row.ground,
            proposed_by=by.id,
            at=timestamp(row.proposed_at),
            words=concealed(row.words),
        )
        log.append(event, by=by)
    registration.refresh_from_db()


def confirm(registration: Registration, *, by: Actor) -> None:
    """Be the second of the two: what was proposed is done, and the organisation sees it."""
    second = duties.standing(by)
    with refusing(), transaction.atomic():
        row = _locked(registration, Registration.State.PROPOSED, Reason.NOT_PROPOSED)
        assert row.proposed_by is not None
        first, organisation = duties.standing_of(row.proposed_by), row.organisation
        if reason := policies.may_approve(first, second, lineages={organisation.lineage_id}):
            raise DutyRefused(reason)
        verdict = Registration.Verdict(row.verdict)
        if organisation.state == Organisation.State.SUSPENDED and verdict is Registration.Verdict.VERIFY:
            raise RegistrationRefused(Reason.SUSPENDED)
        row.state, row.decided_by, row.decided_at = _ENDS[verdict], _person(by), clock.now()
        row.save(update_fields=["state", "decided_by", "decided_at"])
        event = events.RegistrationDecided(
            subject=row.id, verdict=row.verdict, decided_by=by.id, at=timestamp(row.decided_at)
        )
        log.append(event, by=by)
        if verdict is Registration.Verdict.VERIFY:
            services.set_verified(organisation, registration=str(row.id), by=by)
        else:
            notify_organisation(organisation, _TOLD[verdict], subject=row.id, facts={})
    registration.refresh_from_db()


def send_back(registration: Registration, *, by: Actor) -> None:
    """Do not confirm: it waits for another proposal, by anybody entitled, its deadline unchanged."""
    second = duties.standing(by)
    with refusing(), transaction.atomic():
        row = _locked(registration, Registration.State.PROPOSED, Reason.NOT_PROPOSED)
        if reason := policies.may_propose(second, lineage=row.organisation.lineage_id):
            raise DutyRefused(reason)
        row.state, row.verdict, row.ground, row.words = Registration.State.FILED, "", "", ""
        row.proposed_by = row.proposed_at = None
        row.save(update_fields=["state", "verdict", "ground", "words", "proposed_by", "proposed_at"])
        log.append(events.RegistrationReturned(subject=row.id, returned_by=by.id), by=by)
    registration.refresh_from_db()


def opened(registration: Registration) -> dict[str, Any]:
    """The registered data, for the console's own process; a part whose key was destroyed is None."""
    row = RegistrationDetails.objects.get(pk=registration.pk)
    own = PersonKey.objects.filter(user__pseudonym=registration.filed_by_id).first()
    return {
        "organisation": _part(row.sealed_organisation, row.wrapped_key),
        "contact": _part(row.sealed_contact, own.wrapped_key if own else b""),
    }


def evidence(found: RegistrationEvidence) -> bytes:
    """The plain bytes of one file. Raises vault.SealBroken once the key was destroyed, store.ObjectMissing."""
    row = RegistrationDetails.objects.get(pk=found.registration_id)
    key = vault.unwrap(bytes(row.wrapped_key), under=names.people_key())
    return store.get_sealed_bytes(settings.S3_BUCKET_SEALED, found.object_key, under=key)


def forget(registration: Registration, *, by: Actor) -> None:
    """Destroy the key of data and evidence, and the files; doing it again changes nothing."""
    with transaction.atomic():
        row = RegistrationDetails.objects.select_for_update().get(pk=registration.pk)
        if not row.wrapped_key:
            return
        row.wrapped_key = b""
        row.save(update_fields=["wrapped_key"])
        log.append(events.RegistrationForgotten(subject=registration.pk), by=by)
    for found in RegistrationEvidence.objects.filter(registration=registration):
        store.delete(settings.S3_BUCKET_SEALED, found.object_key)


def _part(sealed: bytes | memoryview, wrapped_key: bytes | memoryview) -> dict[str, str] | None:
    if not wrapped_key:
        return None
    try:
        found: dict[str, str] = json.loads(names.open_sealed(sealed, wrapped_key))
    except vault.SealBroken:
        return None
    return found


def _locked(registration: Registration, state: str, otherwise: Reason) -> Registration:
    rows = Registration.objects.select_for_update(of=("self",), no_key=True)
    row = rows.select_related("organisation").get(pk=registration.pk)
    if row.state != state:
        raise RegistrationRefused(otherwise)
    return row


def _person(actor: Actor) -> User:
    return User.objects.get(pseudonym=actor.id)
