"""Every change to people, organisations, members and tokens: one transaction each, with its audit event."""

from __future__ import annotations

from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils.text import slugify

from accounts import events, names
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.members import invitations
from accounts.models import (
    ApiToken,
    AuditOrganisation,
    Lineage,
    Membership,
    Notice,
    NoticePreference,
    Organisation,
    PersonKey,
    User,
)
from accounts.notices.kinds import Kind
from accounts.notices.services import EVERYBODY, notify_organisation
from accounts.registration.refusals import Reason as RegistrationReason
from accounts.registration.refusals import RegistrationRefused
from accounts.security import sessions
from accounts.tokens.services import TOKEN_LIFETIME, issue_token, revoke_all_of, revoke_token
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock
from config.ids import opaque_id
from config.lines import folded

__all__ = ["TOKEN_LIFETIME", "issue_token", "revoke_token"]  # made elsewhere, called from here

ERASED_DOMAIN = "erased.invalid"
"""No mail reaches it (RFC 2606), and nobody can sign up or in under it."""


def actor_for(user: User, *, channel: str, organisation: Organisation | None = None) -> Actor:
    """The person `user`, acting in a browser session or by command."""
    return user.actor(channel, str(organisation.id) if organisation else "")  # type: ignore[arg-type]


def actor_for_token(token: ApiToken) -> Actor:
    """The token, on behalf of its holder's account."""
    return Actor(
        kind="token",
        id=str(token.public_id),
        organisation=str(token.organisation_id),
        channel="api",
        account=token.user_id,
    )


def create_user(email: str, password: str | None, *, by: Actor, name: str = "", staff: bool = False) -> User:
    with transaction.atomic():
        user = User.objects.create_user(email, password, is_staff=staff)
        if name:
            _seal_name(user, name)
        log.append(events.UserCreated(subject=user.pseudonym), by=by)
    return user


def set_name(user: User, name: str, *, by: Actor) -> None:
    """What the person is called from now on. Raises ValueError for somebody erased, names.NoPeopleKey."""
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if locked.erased_at is not None:
            raise ValueError("this person was erased")
        _seal_name(locked, name)
        log.append(events.NameSet(subject=locked.pseudonym), by=by)
    user.refresh_from_db(fields=["sealed_name"])


def _seal_name(user: User, name: str) -> None:
    key, _ = PersonKey.objects.get_or_create(user=user, defaults={"wrapped_key": names.new_key()})
    user.sealed_name = names.seal(folded(name), key.wrapped_key)
    user.save(update_fields=["sealed_name"])


def erase_person(user: User, *, by: Actor) -> None:
    """Destroy what leads from the account to the person; doing it again changes nothing.

    Gone are the key and with it the name, every address, sign-in, second factor and token. The row stays as an
    inactive pseudonym, so that quota, submissions and events still count the same; the log is not touched.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if locked.erased_at is None:
            revoke_all_of(locked, by=by, cause=ApiToken.Cause.ERASED)
            known = EmailAddress.objects.filter(user=locked).values_list("email", flat=True)
            invitations.forget_addresses({locked.email, *known}, by=by)
            _forget_sign_ins(locked)
            _forget_notices(locked)
            PersonKey.objects.filter(user=locked).delete()
            locked.email, locked.sealed_name = f"{opaque_id().hex}@{ERASED_DOMAIN}", b""
            locked.is_active = locked.is_staff = locked.is_superuser = False
            locked.erased_at, locked.last_login = clock.now(), None
            locked.set_unusable_password()
            locked.save()
            log.append(events.PersonErased(subject=locked.pseudonym), by=by)
    user.refresh_from_db()


def _forget_sign_ins(user: User) -> None:
    EmailAddress.objects.filter(user=user).delete()
    Authenticator.objects.filter(user=user).delete()
    sessions.end_all(user)
    for session in Session.objects.iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()


def _forget_notices(user: User) -> None:
    Notice.objects.filter(person=user).delete()
    NoticePreference.objects.filter(person=user).delete()


def _tell_organisation(organisation: Organisation, kind: Kind, *, at: datetime) -> None:
    """Everybody in it, once for each time."""
    notify_organisation(
        organisation, kind, subject=organisation.id, facts={}, roles=EVERYBODY, occasion=at.isoformat()
    )


def set_language(user: User, language: str, *, by: Actor) -> None:
    """In which language the person gets mail from now on. Raises ValueError for one that the site does not speak."""
    if language not in dict(settings.LANGUAGES):
        raise ValueError(f"{language!r} is no language of the site")
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if locked.language != language:
            locked.language = language
            locked.save(update_fields=["language"])
            log.append(events.LanguageSet(subject=locked.pseudonym, language=language), by=by)
    user.language = language


def set_password(user: User, password: str, *, by: Actor) -> None:
    """Another password than before ends every token: whoever knew the old one could have made one."""
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if locked.has_usable_password():
            revoke_all_of(locked, by=by, cause=ApiToken.Cause.PASSWORD)
        locked.set_password(password)
        locked.save(update_fields=["password"])
        log.append(events.PasswordSet(subject=locked.pseudonym), by=by)
        sessions.end_all(locked)
    user.password = locked.password


def suspend_user(user: User, *, by: Actor) -> None:
    """Ends all access at once: sessions and tokens are refused from this moment."""
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if locked.suspended_at is None:
            locked.suspended_at = clock.now()
            locked.save(update_fields=["suspended_at"])
            log.append(events.UserSuspended(subject=locked.pseudonym), by=by)
            sessions.end_all(locked)
    user.suspended_at = locked.suspended_at


def create_organisation(name: str, *, owner: User, by: Actor) -> Organisation:
    """A new organisation under review, in a lineage of its own, with `owner` as its first member.

    Raises DutyRefused like `add_member`.
    """
    with transaction.atomic():
        organisation = Organisation.objects.create(
            name=folded(name),
            slug=f"{slugify(name)[:60] or 'organisation'}-{opaque_id().hex[:8]}",
            lineage=Lineage.objects.create(),
        )
        log.append(
            events.OrganisationCreated(subject=organisation.id, lineage=str(organisation.lineage_id)), by=by
        )
        add_member(organisation, owner, Membership.Role.OWNER, by=by)
    return organisation


def add_member(organisation: Organisation, user: User, role: str, *, by: Actor) -> Membership:
    """Raises DutyRefused for who holds a duty that sees what members of an organisation that can submit must not."""
    with refusing(), transaction.atomic():
        membership = Membership.objects.create(organisation=organisation, user=user, role=role)
        event = events.MemberAdded(subject=organisation.id, account=str(user.pseudonym), role=str(role))
        log.append(event, by=by)
    return membership


def verify_organisation(organisation: Organisation, *, by: Actor) -> None:
    """Verify without a registration: the way to set up a machine of one's own, by command.

    Who serves on the console goes through accounts.registration.review. Raises like `set_verified`, and DutyRefused
    for whoever acts on a page.
    """
    if by.channel in ("web", "api"):
        raise DutyRefused(Reason.ONE_PERSON)
    set_verified(organisation, registration=None, by=by)


def set_verified(organisation: Organisation, *, registration: str | None, by: Actor) -> None:
    """Who this is, is confirmed, for as long as a verification holds; only then can it submit.

    Raises RegistrationRefused for an audit organisation, DutyRefused for who belongs to it or to one linked with it.
    """
    with transaction.atomic():
        locked = Organisation.objects.select_for_update().get(pk=organisation.pk)
        if Membership.objects.filter(user=by.account, organisation__lineage=locked.lineage_id).exists():
            raise DutyRefused(Reason.OWN_CASE)
        if AuditOrganisation.objects.filter(organisation=locked).exists():
            raise RegistrationRefused(RegistrationReason.AUDITS)
        now = clock.now()
        locked.state = Organisation.State.VERIFIED
        locked.verified_at, locked.verified_until = now, now + settings.VERIFICATION_HOLDS
        locked.save(update_fields=["state", "verified_at", "verified_until"])
        event = events.OrganisationVerified(
            subject=locked.id, until=timestamp(locked.verified_until), registration=registration
        )
        log.append(event, by=by)
        _tell_organisation(locked, Kind.ORGANISATION_VERIFIED, at=locked.verified_at)
    organisation.refresh_from_db()


def suspend_organisation(organisation: Organisation, *, by: Actor) -> None:
    with transaction.atomic():
        locked = Organisation.objects.select_for_update().get(pk=organisation.pk)
        locked.state = Organisation.State.SUSPENDED
        locked.save(update_fields=["state"])
        log.append(events.OrganisationSuspended(subject=locked.id), by=by)
        _tell_organisation(locked, Kind.ORGANISATION_SUSPENDED, at=clock.now())
    organisation.refresh_from_db()
