"""Reads about members and invitations."""

from __future__ import annotations

from uuid import UUID

from allauth.account.models import EmailAddress

from accounts.members import invitations, policies
from accounts.members.models import Invitation
from accounts.models import Membership, Organisation, User
from config import clock


def members_of(organisation: Organisation) -> list[Membership]:
    return list(
        Membership.objects.filter(organisation=organisation).select_related("user").order_by("created_at")
    )


def is_only_owner(membership: Membership) -> bool:
    """Whether the organisation would be left without an owner."""
    owners = Membership.objects.filter(
        organisation=membership.organisation_id, role=Membership.Role.OWNER
    ).exclude(pk=membership.pk)
    return policies.may_lose_owner(membership.role, owners.count()) is not None


def member_of(organisation: Organisation, member_id: UUID) -> Membership | None:
    rows = Membership.objects.select_related("user", "organisation")
    return rows.filter(organisation=organisation, pk=member_id).first()


def open_invitations(organisation: Organisation) -> list[Invitation]:
    rows = invitations.unfinished().filter(organisation=organisation, expires_at__gt=clock.now())
    return list(rows.order_by("created_at"))


def invitation_of(organisation: Organisation, invitation_id: UUID) -> Invitation | None:
    return Invitation.objects.filter(organisation=organisation, pk=invitation_id).first()


def invitation_by(secret: str) -> Invitation | None:
    """The invitation whose link holds this secret."""
    rows = Invitation.objects.select_related("organisation")
    return rows.filter(digest=invitations.digest_of(secret)).first()


def invites(user: User) -> bool:
    """Whether an invitation to one of the person's verified addresses waits to be accepted."""
    rows = invitations.unfinished().filter(expires_at__gt=clock.now())
    known = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    return any(rows.filter(address__iexact=address).exists() for address in known)


def other_memberships(user: User, than: Membership) -> list[Membership]:
    rows = Membership.objects.filter(user=user).exclude(pk=than.pk)
    return list(rows.select_related("organisation").order_by("organisation__name"))
