"""A person asks to be erased, on their own page. Staff carry it out under the console's role; the site cannot."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Manager, Model

from accounts import events
from accounts.models import Membership, User
from accounts.security.models import ErasureRequest
from accounts.security.refusals import ErasureRefused, Reason
from audit import log
from audit.events import Actor
from config import clock

ENDED = ("complete", "rejected", "preflight_passed", "preflight_failed", "cancelled", "incomplete", "voided")
"""States in which a submission needs nobody any more. They live above accounts; a test compares."""


def request_of(user: User) -> ErasureRequest | None:
    return ErasureRequest.objects.filter(user=user).first()


def is_needed(user: User) -> bool:
    """Whether somebody else has to become an owner first, or what is under way has to end."""
    owned = Membership.objects.filter(user=user, role=Membership.Role.OWNER).select_related("organisation")
    for own in owned:
        others = own.organisation.memberships.filter(role=Membership.Role.OWNER).exclude(pk=own.pk)
        related = getattr(own.organisation, "submissions")  # noqa: B009 - a layer above
        submissions: Manager[Model] = related(manager="of_any_scope")
        if not others.exists() and submissions.exclude(state__in=ENDED).exists():
            return True
    return False


def ask(user: User, *, by: Actor) -> None:
    """Doing it again changes nothing. Raises ErasureRefused."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        if is_needed(user):
            raise ErasureRefused(Reason.SOLE_OWNER)
        _, made = ErasureRequest.objects.get_or_create(user=user, defaults={"asked_at": clock.now()})
        if made:
            log.append(events.ErasureAsked(subject=user.pseudonym), by=by)


def withdraw(user: User, *, by: Actor) -> None:
    """As long as it was not carried out; without a request it changes nothing."""
    with transaction.atomic():
        removed, _ = ErasureRequest.objects.filter(user=user).delete()
        if removed:
            log.append(events.ErasureWithdrawn(subject=user.pseudonym), by=by)
