"""Forms about organisations and tokens: what may be entered. What it does is the services' affair."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken
from accounts.services import TOKEN_LIFETIME
from config.lines import folded


class OrganisationForm(forms.Form):
    name = forms.CharField(
        label=_("Name of the organisation"),
        max_length=200,
        help_text=_("The registered name, as staff will verify it."),
    )

    def clean_name(self) -> str:
        name = folded(str(self.cleaned_data["name"]))
        if len(name) < 2:
            raise forms.ValidationError(_("Enter the organisation's full name."))
        return name


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("Where it will be used, for instance: nightly pipeline.")
    )
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=ApiToken.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[ApiToken.Scope.READ.value, ApiToken.Scope.SUBMIT.value],
        help_text=_(
            "Read: everything of your organisation that the API shows. Preflight: register versions, upload, read "
            "preflights. Submit: register versions, upload, submit, cancel."
        ),
    )
    harness = forms.ChoiceField(label=_("Limited to one harness"), required=False)
    days = forms.TypedChoiceField(
        label=_("Valid for"),
        coerce=int,
        choices=[(7, _("7 days")), (30, _("30 days")), (TOKEN_LIFETIME.days, _("90 days"))],
        initial=30,
    )

    def __init__(self, *args: Any, harnesses: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["harness"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("all harnesses")), *harnesses]

    def lifetime(self) -> timedelta:
        return timedelta(days=self.cleaned_data["days"])
