"""Reads about people and organisations."""

from __future__ import annotations

from uuid import UUID

from accounts.models import Membership, Organisation, User


def membership_of(user: User, organisation_id: UUID | None = None) -> Membership | None:
    """The user's membership of that organisation, or the one they chose last; None for a stranger."""
    rows = Membership.objects.select_related("organisation").filter(user=user).order_by("-chosen_at")
    if organisation_id is not None:
        rows = rows.filter(organisation_id=organisation_id)
    return rows.first()


def organisations_of(user: User) -> list[Organisation]:
    return list(Organisation.objects.filter(memberships__user=user).order_by("name"))
