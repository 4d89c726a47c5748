"""Every change of who belongs to an organisation: one transaction each, with its audit event.

Changes of members of one organisation wait for each other on its row, so that two owners who leave at once cannot
leave it without one. Raises MemberRefused for what is not allowed.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction

from accounts import events
from accounts.duties.refusals import DutyRefused
from accounts.members import invitations, policies
from accounts.members.models import Invitation
from accounts.members.queries import is_only_owner
from accounts.members.refusals import MemberRefused, Reason
from accounts.models import Membership, Organisation, User
from accounts.services import add_member
from accounts.tokens.services import revoke_for_leaving
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock


def invite(
    organisation: Organisation, address: str, role: str, *, inviter: User, by: Actor
) -> tuple[Invitation, str]:
    """An invitation and the secret of its link, which is mailed and never stored.

    It takes the place of an earlier one to the same address.
    """
    now, secret = clock.now(), secrets.token_urlsafe(32)
    with transaction.atomic():
        _require_owner(organisation, by)
        if Membership.objects.filter(organisation=organisation, user__email__iexact=address).exists():
            raise MemberRefused(Reason.ALREADY)
        sent = Invitation.objects.filter(organisation=organisation)
        if sent.filter(created_at__gt=now - timedelta(days=1)).count() >= policies.INVITATIONS_A_DAY:
            raise MemberRefused(Reason.TOO_MANY)
        earlier = invitations.unfinished().filter(organisation=organisation).select_for_update()
        invitations.withdraw(earlier.filter(address__iexact=address), by=by)
        invitations.withdraw(earlier.filter(expires_at__lte=now), by=by)
        row = Invitation.objects.create(
            organisation=organisation,
            address=address,
            role=role,
            digest=invitations.digest_of(secret),
            invited_by=inviter,
            created_at=now,
            expires_at=now + policies.VALID_FOR,
        )
        event = events.InvitationSent(
            subject=row.id,
            organisation=str(organisation.pk),
            role=str(role),
            expires=timestamp(row.expires_at),
        )
        log.append(event, by=by)
    return row, secret


def revoke_invitation(invitation: Invitation, *, by: Actor) -> None:
    """Withdraw it; doing it again changes nothing."""
    with transaction.atomic():
        _require_owner(invitation.organisation, by)
        rows = invitations.unfinished().filter(pk=invitation.pk).select_for_update()
        invitations.withdraw(rows, by=by)
    invitation.refresh_from_db()


def accept(secret: str, person: User, *, by: Actor) -> Membership:
    """Join by the link that was mailed; the person has confirmed the address it was sent to."""
    try:
        with transaction.atomic():
            # First the organisation, as everywhere; the other order could wait for itself.
            found = Invitation.objects.filter(digest=invitations.digest_of(secret)).first()
            if found is None:
                raise MemberRefused(Reason.OVER)
            Organisation.objects.select_for_update().get(pk=found.organisation_id)
            row = Invitation.objects.select_for_update().get(pk=found.pk)
            if refusal := may_accept(row, person):
                raise MemberRefused(refusal)
            row.accepted_at, row.address = clock.now(), ""
            row.save(update_fields=["accepted_at", "address"])
            event = events.InvitationAccepted(
                subject=row.id, organisation=str(row.organisation_id), account=str(person.pseudonym)
            )
            log.append(event, by=by)
            return add_member(row.organisation, person, row.role, by=by)
    except DutyRefused as refused:
        raise MemberRefused(Reason.DUTIES) from refused
    except IntegrityError as error:
        if "one_membership_each" not in str(error):
            raise
        raise MemberRefused(Reason.ALREADY) from error


def may_accept(invitation: Invitation, person: User) -> Reason | None:
    """Why this person cannot accept it now; None where nothing stands against it."""
    if not invitation.is_open:
        return Reason.OVER
    confirmed = EmailAddress.objects.filter(user=person, email__iexact=invitation.address, verified=True)
    return None if confirmed.exists() else Reason.OTHER_ADDRESS


def set_role(membership: Membership, role: str, *, by: Actor) -> None:
    """Give the member another role; the same one again changes nothing."""
    with transaction.atomic():
        _require_owner(membership.organisation, by)
        row = Membership.objects.select_related("user").get(pk=membership.pk)
        if row.role != role:
            _require_other_owner(row)
            row.role = role
            row.save(update_fields=["role"])
            event = events.MemberRoleChanged(
                subject=row.organisation_id, account=str(row.user.pseudonym), role=str(role)
            )
            log.append(event, by=by)
            _withdraw_invitations_of(row, by)
    membership.refresh_from_db()


def end_membership(membership: Membership, *, by: Actor) -> None:
    """The member leaves, or an owner removes them: from this moment they have no part in the organisation.

    Their tokens for it are ended, also for when they join again. What they did keeps their name, and what it cost
    stays with the organisation.
    """
    with transaction.atomic():
        _lock(membership.organisation)
        row = Membership.objects.select_related("user").filter(pk=membership.pk).first()
        if row is None:
            return
        if row.user_id != by.account and (refusal := policies.may_manage(_role_of(row.organisation_id, by))):
            raise MemberRefused(refusal)
        _require_other_owner(row)
        _withdraw_invitations_of(row, by)
        revoke_for_leaving(row.user, row.organisation_id, by=by)
        row.delete()
        event = events.MemberEnded(subject=membership.organisation_id, account=str(row.user.pseudonym))
        log.append(event, by=by)


def choose(membership: Membership) -> None:
    """The organisation whose pages this person sees from now on, where they belong to several."""
    Membership.objects.filter(pk=membership.pk).update(chosen_at=clock.now())


def _lock(organisation: Organisation) -> None:
    Organisation.objects.select_for_update().get(pk=organisation.pk)


def _role_of(organisation_id: UUID, by: Actor) -> str | None:
    if by.account is None:
        return None
    found = Membership.objects.filter(organisation_id=organisation_id, user_id=by.account)
    return found.values_list("role", flat=True).first()


def _require_owner(organisation: Organisation, by: Actor) -> None:
    _lock(organisation)
    if refusal := policies.may_manage(_role_of(organisation.pk, by)):
        raise MemberRefused(refusal)


def _require_other_owner(row: Membership) -> None:
    if is_only_owner(row):
        raise MemberRefused(Reason.LAST_OWNER)


def _withdraw_invitations_of(row: Membership, by: Actor) -> None:
    """Whoever is no owner any more has nobody join."""
    theirs = invitations.unfinished().filter(organisation_id=row.organisation_id, invited_by=row.user)
    invitations.withdraw(theirs.select_for_update(), by=by)
