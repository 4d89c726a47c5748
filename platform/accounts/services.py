"""Every change to people, organisations, members and tokens: one transaction each, with its audit event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils.text import slugify

from accounts import events
from accounts.models import ApiToken, Lineage, Membership, Organisation, User
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock
from config.ids import opaque_id

TOKEN_LIFETIME = timedelta(days=90)
"""Longest life of a personal token."""


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
        user = User.objects.create_user(email, password, display_name=name, is_staff=staff)
        log.append(events.UserCreated(subject=user.pseudonym), by=by)
    return user


def set_password(user: User, password: str, *, by: Actor) -> None:
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        locked.set_password(password)
        locked.save(update_fields=["password"])
        log.append(events.PasswordSet(subject=locked.pseudonym), by=by)


def suspend_user(user: User, *, by: Actor) -> None:
    """Ends all access at once: sessions and tokens are refused from this moment."""
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if locked.suspended_at is None:
            locked.suspended_at = clock.now()
            locked.save(update_fields=["suspended_at"])
            log.append(events.UserSuspended(subject=locked.pseudonym), by=by)
    user.suspended_at = locked.suspended_at


def create_organisation(name: str, *, owner: User, by: Actor) -> Organisation:
    """A new organisation under review, in a lineage of its own, with `owner` as its first member."""
    with transaction.atomic():
        organisation = Organisation.objects.create(
            name=name,
            slug=f"{slugify(name)[:60] or 'organisation'}-{opaque_id().hex[:8]}",
            lineage=Lineage.objects.create(),
        )
        log.append(
            events.OrganisationCreated(subject=organisation.id, lineage=str(organisation.lineage_id)), by=by
        )
        add_member(organisation, owner, Membership.Role.OWNER, by=by)
    return organisation


def add_member(organisation: Organisation, user: User, role: str, *, by: Actor) -> Membership:
    with transaction.atomic():
        membership = Membership.objects.create(organisation=organisation, user=user, role=role)
        event = events.MemberAdded(subject=organisation.id, account=str(user.pseudonym), role=str(role))
        log.append(event, by=by)
    return membership


def verify_organisation(organisation: Organisation, *, by: Actor) -> None:
    """Staff confirm who this is; only then can it submit."""
    with transaction.atomic():
        locked = Organisation.objects.select_for_update().get(pk=organisation.pk)
        locked.state = Organisation.State.VERIFIED
        locked.verified_at = clock.now()
        locked.save(update_fields=["state", "verified_at"])
        log.append(events.OrganisationVerified(subject=locked.id), by=by)
    organisation.refresh_from_db()


def suspend_organisation(organisation: Organisation, *, by: Actor) -> None:
    with transaction.atomic():
        locked = Organisation.objects.select_for_update().get(pk=organisation.pk)
        locked.state = Organisation.State.SUSPENDED
        locked.save(update_fields=["state"])
        log.append(events.OrganisationSuspended(subject=locked.id), by=by)
    organisation.refresh_from_db()


def issue_token(
    user: User,
    organisation: Organisation,
    *,
    name: str,
    scopes: Sequence[str],
    by: Actor,
    harness_id: UUID | None = None,
    lifetime: timedelta = TOKEN_LIFETIME,
) -> tuple[ApiToken, str]:
    """A new token and its secret text, which is shown this once and never stored."""
    with transaction.atomic():
        token, secret = ApiToken.objects.create(
            user=user,
            expiry=min(lifetime, TOKEN_LIFETIME),
            organisation=organisation,
            name=name,
            scopes=sorted(scopes),
            harness_id=harness_id,
        )
        log.append(
            events.TokenIssued(subject=token.public_id, scopes=token.scopes, expires=timestamp(token.expiry)),
            by=by,
        )
    return token, secret


def revoke_token(token: ApiToken, *, by: Actor) -> None:
    with transaction.atomic():
        locked = ApiToken.objects.select_for_update().get(pk=token.pk)
        if locked.revoked_at is None:
            locked.revoked_at = clock.now()
            locked.save(update_fields=["revoked_at"])
            log.append(events.TokenRevoked(subject=locked.public_id), by=by)
