"""What auditors may ask for: filters of the explorer, and exports."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.explore import Filter
from audit.exports import Selection

ANY = ("", _("any"))
ACTOR_KINDS = [
    ANY,
    ("person", _("person")),
    ("token", _("token")),
    ("worker", _("worker")),
    ("system", _("platform")),
]
CHANNELS = [
    ANY,
    ("web", _("web form")),
    ("api", _("API")),
    ("system", _("platform")),
    ("command", _("command line")),
]


class Instant(forms.DateTimeField):
    """An instant in UTC, as browsers enter it."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S")

    def __init__(self, **options: Any) -> None:
        super().__init__(input_formats=["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"], required=False, **options)

    def to_python(self, value: Any) -> Any:
        found = super().to_python(value)
        return found.replace(tzinfo=UTC) if found is not None else None


def kinds() -> list[str]:
    """All kinds of events that exist, and each group of them by what stands before its dot."""
    known = sorted(Event.registry)
    return sorted({*known, *(f"{kind.partition('.')[0]}." for kind in known)})


def kind_choices() -> list[tuple[str, str]]:
    """A group is shown with an asterisk."""
    return [(kind, f"{kind}*" if kind.endswith(".") else kind) for kind in kinds()]


def _offer(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [ANY, *choices]


def _styled(form: forms.Form, prefix: str) -> None:
    for name, field in form.fields.items():
        style = "form-select" if isinstance(field, forms.ChoiceField) else "form-control"
        field.widget.attrs.update({"class": style, "id": f"{prefix}-{name}"})


def subject_types() -> list[str]:
    return sorted({declared.subject_type for declared in Event.registry.values()})


class FilterForm(forms.Form):
    """Everything is optional; what is no valid value shows nothing rather than everything."""

    since = Instant(label=_("From (UTC)"))
    until = Instant(label=_("Until (UTC)"))
    organisation = forms.ChoiceField(label=_("Organisation"), required=False)
    kind = forms.ChoiceField(label=_("Kind of event"), required=False)
    subject_type = forms.ChoiceField(label=_("Kind of object"), required=False)
    subject_id = forms.CharField(label=_("Object id"), required=False, max_length=64)
    actor = forms.CharField(label=_("Actor id"), required=False, max_length=64)
    actor_kind = forms.ChoiceField(label=_("Kind of actor"), required=False, choices=ACTOR_KINDS)
    channel = forms.ChoiceField(label=_("Channel"), required=False, choices=CHANNELS)
    outcome = forms.CharField(label=_("Outcome"), required=False, max_length=32)

    def __init__(self, *args: Any, organisations: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer(self, "organisation", organisations)
        _offer(self, "kind", kind_choices())
        _offer(self, "subject_type", [(name, name) for name in subject_types()])
        _styled(self, "filter")

    def wanted(self) -> Filter:
        """The filter; only after `is_valid()`."""
        return Filter(**{name: value for name, value in self.cleaned_data.items() if value})


class ExportForm(forms.Form):
    """Which entries an export discloses; the rest stands in it by its leaf hash."""

    since = Instant(label=_("From (UTC)"))
    until = Instant(label=_("Until (UTC)"))
    first = forms.IntegerField(label=_("From position"), required=False, min_value=0, max_value=2**53)
    last = forms.IntegerField(label=_("To position"), required=False, min_value=0, max_value=2**53)
    organisation = forms.ChoiceField(label=_("Organisation"), required=False)
    kind = forms.ChoiceField(label=_("Kind of event"), required=False)

    def __init__(self, *args: Any, organisations: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer(self, "organisation", organisations)
        _offer(self, "kind", kind_choices())
        _styled(self, "export")

    def selection(self) -> Selection:
        """What was chosen; only after `is_valid()`."""
        return Selection(
            **{name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        )
