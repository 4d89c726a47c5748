"""Forms of the vendor area: what may be entered. What it does is the services' affair."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from benchmark.models import TaskSetVersion
from submissions import cards
from submissions.models import Harness, HarnessVersion
from submissions.models.registry import NAME_PATTERN, VERSION_PATTERN
from submissions.relations.services import Owner


class HarnessForm(forms.Form):
    name = forms.RegexField(
        NAME_PATTERN,
        strip=True,
        label=_("Name"),
        max_length=63,
        help_text=_(
            "What “name” in harness.toml says: a–z, 0–9 and inner hyphens. It cannot be changed later."
        ),
        error_messages={"invalid": _("Use 1 to 63 of a–z, 0–9 and inner hyphens.")},
    )
    title = forms.CharField(
        label=_("Title"),
        max_length=120,
        required=False,
        help_text=_("What people read; without it, the name."),
    )
    relation = forms.ChoiceField(
        label=_("Who submits it"), choices=Harness.Relation.choices, widget=forms.RadioSelect
    )
    owner_name = forms.CharField(
        label=_("Owner"), max_length=200, required=False, help_text=_("Only where somebody else submits it.")
    )
    owner_contact = forms.EmailField(
        label=_("E-mail address of the owner"),
        max_length=254,
        required=False,
        help_text=_(
            "Before a third party's result is published, the owner is told and has 14 days to object."
        ),
    )
    owner_statement = forms.CharField(
        label=_("The owner's consent"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("In the owner's words, with its date; needed where you submit with consent."),
    )

    def registration(self) -> dict[str, Any]:
        """What `register_harness` takes."""
        entered = {name: self.cleaned_data[name] for name in ("name", "title", "relation")}
        parts = {name: self.cleaned_data[f"owner_{name}"] for name in ("name", "contact", "statement")}
        return {**entered, "owner": Owner(**parts) if any(parts.values()) else None}


class VersionForm(forms.Form):
    version = forms.RegexField(
        VERSION_PATTERN,
        strip=True,
        label=_("Version"),
        max_length=64,
        help_text=_("What “version” in harness.toml says, for instance 0.3.1. New for this harness."),
        error_messages={"invalid": _("Use 1 to 64 letters, digits and inner . + _ -")},
    )


class CardDocumentForm(forms.Form):
    """The card as one document: pasted, or as a file. The file wins where both are there."""

    text = forms.CharField(
        label=_("HarnessCard as YAML or JSON"),
        required=False,
        max_length=cards.MAXIMUM_BYTES,
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "false"}),
    )
    file = forms.FileField(label=_("or a file"), required=False)

    def clean_file(self) -> UploadedFile | None:
        found: UploadedFile | None = self.cleaned_data["file"]
        if found is not None and (found.size or 0) > cards.MAXIMUM_BYTES:
            raise forms.ValidationError(_("A HarnessCard is at most 256 KiB."))
        return found

    def clean(self) -> dict[str, Any]:
        entered: dict[str, Any] = super().clean() or self.cleaned_data
        self.document: str = entered.get("text", "")
        found = entered.get("file")
        if found is not None:
            try:
                self.document = found.read().decode("utf-8")
            except UnicodeDecodeError:
                raise forms.ValidationError(_("The file is not UTF-8 text.")) from None
        if not self.document.strip() and not self.errors:
            raise forms.ValidationError(_("Paste the card or choose a file."))
        return entered


class PackageForm(forms.Form):
    """Which version, which task set, and the bundle. Sending it uploads; it submits nothing."""

    version = forms.ChoiceField(label=_("Harness version"))
    task_set = forms.ChoiceField(label=_("Task-set version"))
    package = forms.FileField(
        label=_("Package"),
        help_text=_(
            "A .tar.gz with harness.toml at its root, at most 512 MiB; or an image archive as `docker save` writes it, "
            "at most 4 GiB."
        ),
        allow_empty_file=True,
    )
    sha256 = forms.RegexField(
        r"^[0-9a-fA-F]{64}\Z",
        label=_("SHA-256 of the package"),
        required=False,
        help_text=_("Optional: we compare it with what arrives."),
        error_messages={"invalid": _("A SHA-256 is 64 hexadecimal digits.")},
    )

    def __init__(
        self,
        *args: Any,
        versions: Sequence[HarnessVersion],
        task_sets: Sequence[TaskSetVersion],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        choices = {
            "version": [(str(row.id), f"{row.harness.name} {row.version}") for row in versions],
            "task_set": [(row.label, row.label) for row in task_sets],
        }
        for name, found in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = found


class ConfirmForm(forms.Form):
    """The consent, and the key that makes a second click the same submission; the key is made with the page."""

    task_set = forms.CharField(widget=forms.HiddenInput, max_length=32)
    key = forms.CharField(widget=forms.HiddenInput, max_length=255)
    rerun_offer = forms.UUIDField(widget=forms.HiddenInput, required=False)
    """The offer of a re-run that the page shows it would take."""
    publication_consent = forms.BooleanField(
        label=_("I agree that a confirmed result of this submission may be published."),
        required=False,
        help_text=_(
            "Optional. Nothing is published now; you can withdraw the consent on the submission's page."
        ),
    )

    @staticmethod
    def new_key() -> str:
        return f"web-{uuid.uuid4()}"
