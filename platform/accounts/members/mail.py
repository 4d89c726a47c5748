"""The mail with an invitation's link."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from django.utils import translation

from accounts.members.models import Invitation
from accounts.models import User
from config.lines import folded


def send_invitation(invitation: Invitation, link: str, *, address: str, inviter: User) -> None:
    """In the language of the account that has confirmed the address, or else in the inviter's."""
    known = EmailAddress.objects.select_related("user").filter(email__iexact=address, verified=True).first()
    language = known.user.language if known else inviter.language
    context = {"organisation": folded(invitation.organisation.name), "role": invitation.role, "link": link}
    with translation.override(language):
        get_adapter().send_mail("accounts/email/invitation", address, context)
