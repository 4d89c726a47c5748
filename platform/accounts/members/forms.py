"""Forms about members: what may be entered."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import Membership

ROLES_SAID = _(
    "Owners manage members, tokens and everything else. Submitters register, upload and submit. Viewers see "
    "everything of the organisation and change nothing."
)


class InvitationForm(forms.Form):
    address = forms.EmailField(
        label=_("E-mail address"),
        max_length=254,
        help_text=_("Only an account that has confirmed this address can accept."),
    )
    role = forms.ChoiceField(
        label=_("Role"),
        choices=Membership.Role.choices,
        initial=Membership.Role.VIEWER.value,
        help_text=ROLES_SAID,
    )


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices, help_text=ROLES_SAID)
