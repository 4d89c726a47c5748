"""The form of what comes by mail."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from accounts.notices.kinds import ALWAYS_MAILED, GROUP_WORDS, Group


class PreferencesForm(forms.Form):
    language = forms.ChoiceField(label=_("Language of mail"), choices=settings.LANGUAGES)
    mailed = forms.MultipleChoiceField(
        label=_("By mail"),
        required=False,
        choices=[(group.value, GROUP_WORDS[group]) for group in Group if group not in ALWAYS_MAILED],
        widget=forms.CheckboxSelectMultiple,
    )
    scores_in_mail = forms.BooleanField(
        label=_("Write released scores into the mail about a result"),
        required=False,
        help_text=_(
            "Mail is not encrypted on its way everywhere. Without this, mail only says that there is a result."
        ),
    )
