"""Forms of registration: what may be entered. What it does is the services' affair."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from accounts.forms import OrganisationForm
from accounts.registration import domains, rules
from accounts.registration.countries import COUNTRIES, MISTAKEN
from accounts.registration.models import Registration
from accounts.registration.services import (
    LARGEST_FILE,
    MOST_FILES,
    ContactData,
    Filing,
    OrganisationData,
)


class _Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class EvidenceField(forms.FileField):
    """One to five files."""

    widget = _Files

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        given = data if isinstance(data, list | tuple) and data else [data or None]
        found = [super(EvidenceField, self).clean(each, initial) for each in given]
        if len(found) > MOST_FILES or any((each.size or 0) > LARGEST_FILE for each in found):
            raise forms.ValidationError(_("At most five files of 10 MiB each."))
        return found


class RulesForm(forms.Form):
    """The version travels with the form, so that what was read is what is accepted."""

    rules_version = forms.CharField(widget=forms.HiddenInput, max_length=16)
    accept = forms.BooleanField(
        label=_("My organisation accepts the participation rules."),
        error_messages={"required": _("Without accepting the rules nobody takes part.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rules_version"].initial = rules.current().version


class NewOrganisationForm(RulesForm, OrganisationForm):
    """Founding an organisation: its name, and the rules."""

    field_order = ("name", "rules_version", "accept")


class RegistrationForm(forms.Form):
    legal_name = forms.CharField(
        label=_("Legal name"), max_length=200, help_text=_("As it stands in the register.")
    )
    number = forms.CharField(
        label=_("Registration number"),
        max_length=64,
        help_text=_("For instance the unified social credit code, or the number in the commercial register."),
    )
    country = forms.CharField(
        label=_("Country"),
        help_text=_("Two letters of ISO 3166, e.g. DE or CN."),
        widget=forms.TextInput(attrs={"maxlength": 2, "autocomplete": "country"}),
    )
    domain = forms.CharField(
        label=_("Domain"),
        max_length=253,
        help_text=_("A domain that belongs to the organisation. You prove that in the next step."),
    )
    contact_name = forms.CharField(label=_("Your legal name"), max_length=120)
    contact_position = forms.CharField(label=_("Your position"), max_length=120)
    contact_email = forms.EmailField(label=_("E-mail address for questions"))
    contact_phone = forms.CharField(label=_("Telephone"), max_length=40, required=False)
    evidence = EvidenceField(
        label=_("Evidence"),
        help_text=_(
            "One to five PDF, PNG or JPEG files of at most 10 MiB: an extract of the register, and what shows "
            "that you may act for the organisation."
        ),
    )

    def clean_country(self) -> str:
        found = str(self.cleaned_data["country"]).upper()
        if found in MISTAKEN:
            raise forms.ValidationError(
                _("ISO 3166 has %(code)s for this country, not %(given)s."),
                params={"code": MISTAKEN[found], "given": found},
            )
        if found not in COUNTRIES:
            raise forms.ValidationError(
                _(
                    "This is no country of ISO 3166. Enter its two letters, e.g. DE for Germany or CN for China."
                )
            )
        return found

    def clean_domain(self) -> str:
        found = domains.normalised(self.cleaned_data["domain"])
        if not found:
            raise forms.ValidationError(_("Enter a domain like example.com, without address or path."))
        return found

    def filing(self) -> Filing:
        """What `services.file` takes."""
        found = self.cleaned_data
        return Filing(
            OrganisationData(found["legal_name"].strip(), found["number"].strip(), found["country"]),
            ContactData(
                found["contact_name"],
                found["contact_position"],
                found["contact_email"],
                found["contact_phone"],
            ),
            found["domain"],
            [each.read() for each in found["evidence"]],
        )


class MailForm(forms.Form):
    address = forms.EmailField(label=_("An address at the domain"))


class ProposalForm(forms.Form):
    """What an identity reviewer proposes."""

    verdict = forms.ChoiceField(
        label=_("Proposal"), choices=Registration.Verdict.choices, widget=forms.RadioSelect
    )
    ground = forms.ChoiceField(
        label=_("Reason, where it is not verified"), choices=Registration.Ground.choices, required=False
    )
    words = forms.CharField(
        label=_("Text to the organisation"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_(
            "Shown to the organisation once a second person has confirmed. The log holds a salted hash."
        ),
    )
