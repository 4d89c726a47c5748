"""Forms of the access review: what may be entered. Whether it is allowed is for the services."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.duties.table import ASSIGNED, DUTIES, Duty
from accounts.models import User

LONGEST_REASON = 500
"""Characters; the event carries only a salted hash of them."""


class Day(forms.DateField):
    """A day of the years that a duty can lie in, as browsers enter it; it stands for its first instant in UTC."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateInput(
            attrs={"type": "date", "min": "2020-01-01", "max": "2099-12-31"}, format="%Y-%m-%d"
        )
        super().__init__(
            widget=widget,
            input_formats=["%Y-%m-%d"],
            error_messages={"invalid": _("Give a date as 2026-01-31.")},
            **options,
        )

    def clean(self, value: Any) -> Any:
        found: date | None = super().clean(value)
        if found is not None and not 2020 <= found.year <= 2099:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return None if found is None else datetime.combine(found, time(), UTC)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Administrators read it here; the log holds a salted hash of it."),
    )


class ProposalForm(ReasonForm):
    person = forms.ModelChoiceField(
        label=_("Person"), queryset=User.objects.none(), help_text=_("Active members of the staff.")
    )
    duty = forms.ChoiceField(label=_("Duty"), choices=[(duty.value, DUTIES[duty].name) for duty in ASSIGNED])
    begins_at = Day(label=_("From"), help_text=_("The beginning of that day in UTC."))
    ends_at = Day(label=_("Until"), help_text=_("The beginning of that day in UTC, at most 366 days later."))
    field_order = ("person", "duty", "begins_at", "ends_at", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["person"]
        assert isinstance(field, forms.ModelChoiceField)
        live = User.objects.filter(is_staff=True, is_active=True, suspended_at=None)
        field.queryset = live.order_by("email")

    def facts(self) -> dict[str, Any]:
        """What `services.propose` takes."""
        return self.cleaned_data | {"duty": Duty(self.cleaned_data["duty"])}
