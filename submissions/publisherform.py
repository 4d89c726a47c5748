"""The form that registers a trusted publisher: what may be entered. What it does is the services' affair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.publishing.models import Dialect
from submissions.models import Harness
from submissions.problems import Refusal


class PublisherForm(forms.Form):
    harness = forms.ChoiceField(label=_("Harness"))
    issuer = forms.ChoiceField(label=_("CI service"))
    repository = forms.CharField(
        label=_("Repository"),
        max_length=255,
        help_text=_("On GitHub owner/name; on GitLab the project's whole path."),
    )
    owner_id = forms.CharField(
        label=_("Owner id"),
        max_length=20,
        help_text=_(
            "The number of the owner (GitHub) or of the group or user (GitLab), not its name: it stays when the "
            "owner is renamed, and is another when somebody else takes the name."
        ),
    )
    workflow = forms.CharField(
        label=_("Workflow file"),
        max_length=255,
        help_text=_(
            "On GitHub a file of .github/workflows, for instance submit.yml; on GitLab .gitlab-ci.yml."
        ),
    )
    ref = forms.CharField(
        label=_("Branch or tag"),
        max_length=255,
        required=False,
        help_text=_("For instance main or refs/tags/v1. Empty: every branch and tag."),
    )
    environment = forms.CharField(
        label=_("Environment"),
        max_length=255,
        required=False,
        help_text=_("Best one that only reviewers can release. Empty: with any or none."),
    )

    def __init__(self, data: Any, *, harnesses: Sequence[Harness], issuers: Mapping[str, str]) -> None:
        super().__init__(data)
        choices = {
            "harness": [(str(row.id), str(row)) for row in harnesses],
            "issuer": [(address, _named(address, dialect)) for address, dialect in issuers.items()],
        }
        for name, rows in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = rows

    def takes(self, refusal: Refusal) -> bool:
        """Show the refusal at the field that it names, if it names one of these."""
        name = str(refusal.facts.get("field", ""))
        if name not in self.fields:
            return False
        self.add_error(name, refusal.detail)
        return True


def _named(address: str, dialect: str) -> str:
    return f"{Dialect(dialect).label} · {urlsplit(address).netloc}"
