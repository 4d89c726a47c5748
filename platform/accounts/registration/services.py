"""What an organisation does about its registration: accept the rules, file data, prove control of its domain.

One transaction each, with its audit event. Raises RegistrationRefused for what is not allowed.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction

from accounts import names, services
from accounts.models import AuditOrganisation, Membership, Organisation, PersonKey, User
from accounts.registration import domains, events, rules
from accounts.registration.marks import mark
from accounts.registration.models import (
    Registration,
    RegistrationDetails,
    RegistrationEvidence,
    RuleAcceptance,
)
from accounts.registration.policies import answer_due
from accounts.registration.refusals import Reason, RegistrationRefused
from accounts.registration.shared_domains import is_shared
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock, store, vault

MOST_FILES = 5
LARGEST_FILE = 10 * 1024 * 1024
"""Bytes."""
MAIL_EVERY = 60
"""Seconds between two mails about one registration."""
_MAGIC = {
    b"%PDF-": RegistrationEvidence.Kind.PDF,
    b"\x89PNG\r\n\x1a\n": RegistrationEvidence.Kind.PNG,
    b"\xff\xd8\xff": RegistrationEvidence.Kind.JPEG,
}


@dataclass(frozen=True)
class OrganisationData:
    """What is registered about the organisation."""

    legal_name: str
    number: str
    country: str


@dataclass(frozen=True)
class ContactData:
    """What is registered about the person behind it."""

    legal_name: str
    position: str
    email: str
    phone: str


@dataclass(frozen=True)
class Filing:
    """All that is filed at once; evidence is sealed and never given back to the organisation."""

    organisation: OrganisationData
    contact: ContactData
    domain: str
    evidence: Sequence[bytes]


def found_organisation(name: str, *, rules_version: str, owner: User, by: Actor) -> Organisation:
    """A new organisation whose owner has accepted the rules. Raises DutyRefused, RegistrationRefused."""
    with transaction.atomic():
        organisation = services.create_organisation(name, owner=owner, by=by)
        accept_rules(organisation, rules_version, person=owner, by=by)
    return organisation


def accept_rules(organisation: Organisation, version: str, *, person: User, by: Actor) -> None:
    """Accept the rules in force; accepting them again changes nothing."""
    found = rules.current()
    if version != found.version:
        raise RegistrationRefused(Reason.RULES_CHANGED)
    require_owner(organisation, person)
    now = clock.now()
    with transaction.atomic():
        Organisation.objects.select_for_update().get(pk=organisation.pk)
        if RuleAcceptance.objects.filter(organisation=organisation, version=version).exists():
            return
        RuleAcceptance.objects.create(
            organisation=organisation,
            version=found.version,
            digest=found.digest,
            accepted_by=person,
            accepted_at=now,
        )
        event = events.RulesAccepted(
            subject=organisation.id,
            rules=found.version,
            digest=found.digest,
            accepted_by=str(person.pseudonym),
            at=timestamp(now),
        )
        log.append(event, by=by)


def file(organisation: Organisation, filing: Filing, *, person: User, by: Actor) -> Registration:
    """File who the organisation is. The data are sealed here; who serves vendors cannot open them again."""
    require_owner(organisation, person)
    domain = domains.normalised(filing.domain)
    if not domain:
        raise RegistrationRefused(Reason.DOMAIN_INVALID)
    kinds = [_kind_of(data) for data in filing.evidence]
    if not 1 <= len(kinds) <= MOST_FILES:
        raise RegistrationRefused(Reason.EVIDENCE_COUNT)
    if organisation.state == Organisation.State.SUSPENDED:
        raise RegistrationRefused(Reason.SUSPENDED)
    if AuditOrganisation.objects.filter(organisation=organisation).exists():
        raise RegistrationRefused(Reason.AUDITS)
    try:
        with transaction.atomic():
            row = _filed(organisation, filing, domain, person=person, by=by)
            _seal(row, filing, kinds, person=person, by=by)
            return row
    except IntegrityError as error:
        if "registration_under_way_once" not in str(error):
            raise
        raise RegistrationRefused(Reason.UNDER_WAY) from error


def _filed(
    organisation: Organisation, filing: Filing, domain: str, *, person: User, by: Actor
) -> Registration:
    now = clock.now()
    row = Registration.objects.create(
        organisation=organisation,
        filed_by=person,
        filed_at=now,
        due_at=answer_due(now),
        domain=domain,
        name_mark=mark("name", filing.organisation.legal_name),
        number_mark=mark("number", filing.organisation.country + filing.organisation.number),
        domain_mark=mark("domain", domain),
        evidence_files=len(filing.evidence),
    )
    event = events.RegistrationFiled(
        subject=row.id,
        organisation=str(organisation.id),
        filed_by=str(person.pseudonym),
        evidence=len(filing.evidence),
        due=timestamp(row.due_at),
    )
    log.append(event, by=by)
    return row


def _seal(row: Registration, filing: Filing, kinds: list[str], *, person: User, by: Actor) -> None:
    """Data and files, the organisation's under a new key, the contact's under the person's."""
    key = vault.new_key()
    own = _key_of(person, by)
    wrapped = vault.wrap(key, under=names.people_key())
    RegistrationDetails.objects.create(
        registration=row,
        wrapped_key=wrapped,
        sealed_organisation=names.seal(json.dumps(asdict(filing.organisation)), wrapped),
        sealed_contact=names.seal(json.dumps(asdict(filing.contact)), own.wrapped_key),
    )
    for number, (kind, data) in enumerate(zip(kinds, filing.evidence, strict=True), start=1):
        _keep(row, number, kind, data, key)


def _key_of(person: User, by: Actor) -> PersonKey:
    own, made = PersonKey.objects.get_or_create(user=person, defaults={"wrapped_key": names.new_key()})
    if made:
        log.append(events.PersonKeyMade(subject=person.pseudonym), by=by)
    return own


def _keep(row: Registration, number: int, kind: str, data: bytes, key: bytes) -> None:
    found = RegistrationEvidence.objects.create(
        registration=row,
        number=number,
        kind=kind,
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )
    store.put_sealed(settings.S3_BUCKET_SEALED, found.object_key, io.BytesIO(data), under=key)


def _kind_of(data: bytes) -> str:
    if not 1 <= len(data) <= LARGEST_FILE:
        raise RegistrationRefused(Reason.EVIDENCE_SIZE)
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind.value
    raise RegistrationRefused(Reason.EVIDENCE_KIND)


def may_mail(registration: Registration, address: str) -> None:
    """Raises RegistrationRefused where no link may be mailed there now; the mail counts from here on."""
    if is_shared(registration.domain):
        raise RegistrationRefused(Reason.MAIL_SHARED)
    if not domains.lies_at(address, registration.domain):
        raise RegistrationRefused(Reason.MAIL_ELSEWHERE)
    if not cache.add(f"registration-mail-{registration.id}", 1, MAIL_EVERY):
        raise RegistrationRefused(Reason.MAIL_TOO_OFTEN)


def confirm_by_link(token: str, *, by: Actor) -> Registration:
    """Whoever has the link reads mail at the domain; that is all it says."""
    found = domains.registration_of(token)
    row = Registration.objects.filter(pk=found).first() if found else None
    if row is None:
        raise RegistrationRefused(Reason.LINK_INVALID)
    return _confirm(row, Registration.Method.MAIL, by)


def confirm_by_dns(registration: Registration, *, by: Actor) -> Registration:
    """Look the record up now."""
    wanted = domains.record_value(registration.id)
    if wanted not in domains.txt_records(domains.record_name(registration.domain)):
        raise RegistrationRefused(Reason.NO_RECORD)
    return _confirm(registration, Registration.Method.DNS, by)


def _confirm(registration: Registration, method: str, by: Actor) -> Registration:
    with transaction.atomic():
        row = Registration.objects.select_for_update(no_key=True).get(pk=registration.pk)
        if not row.is_open:
            raise RegistrationRefused(Reason.LINK_INVALID)
        if row.domain_confirmed_at is None:
            row.domain_method, row.domain_confirmed_at = method, clock.now()
            row.save(update_fields=["domain_method", "domain_confirmed_at"])
            event = events.DomainConfirmed(
                subject=row.id, method=row.domain_method, at=timestamp(row.domain_confirmed_at)
            )
            log.append(event, by=by)
    return row


def require_owner(organisation: Organisation, person: User) -> None:
    """Raises RegistrationRefused for who is no owner of the organisation."""
    owners = Membership.objects.filter(organisation=organisation, role=Membership.Role.OWNER, user=person)
    if not owners.exists():
        raise RegistrationRefused(Reason.NOT_OWNER)
