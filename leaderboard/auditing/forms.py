"""What auditors may ask for: filters of the explorer, and exports."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.explore import Filter
from audit.exports import Selection
from evaluation.events import AttemptEnded
from leaderboard.auditing.words import CHANNELS, OUTCOMES

ANY = ("", _("any"))
ACTOR_KINDS = [
    ANY,
    ("person", _("person")),
    ("token", _("token")),
    ("ci", _("CI job")),
    ("worker", _("worker")),
    ("system", _("platform")),
]


EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC)
"""No log holds anything outside; a year beyond is a slip of the hand."""
WRITTEN = "%Y-%m-%dT%H:%M:%S"
ENDS = (("since", "until"), ("first", "last"))
"""The fields between which a range lies."""


class Instant(forms.DateTimeField):
    """An instant in UTC, as browsers enter it."""

    default_error_messages = {  # noqa: RUF012 - Django's own spelling
        "instant_malformed": _("Give date and time as 2026-01-31T08:00, in UTC."),
        "instant_out_of_range": _("Give a year from 2000 to 2099: the log holds no other."),
    }

    def __init__(self, **options: Any) -> None:
        bounds = {"min": EARLIEST.strftime(WRITTEN), "max": LATEST.strftime(WRITTEN)}
        widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1", **bounds}, format=WRITTEN)
        formats = [WRITTEN, "%Y-%m-%dT%H:%M"]
        super().__init__(widget=widget, input_formats=formats, required=False, **options)

    def to_python(self, value: Any) -> datetime | None:
        try:
            found = super().to_python(value)
        except ValidationError:
            raise self._refusal("instant_malformed") from None
        if found is None:
            return None
        instant = found.replace(tzinfo=UTC)
        if not EARLIEST <= instant <= LATEST:
            raise self._refusal("instant_out_of_range")
        return instant

    def _refusal(self, code: str) -> ValidationError:
        return ValidationError(self.error_messages[code], code=code)


class Ranges(forms.Form):
    """A form in which no range may end before it begins."""

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or self.cleaned_data
        for first, last in ENDS:
            begins, ends = found.get(first), found.get(last)
            if begins is None or ends is None:
                continue
            if isinstance(ends, datetime) and ends <= begins:  # the end itself is not in it
                said = _("The end must be later than the beginning: nothing lies between them.")
                self.add_error(last, ValidationError(said, code="range_reversed"))
            elif ends < begins:
                said = _("The last position must not lie before the first.")
                self.add_error(last, ValidationError(said, code="range_reversed"))
        return found


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
        style = "form-check-input" if isinstance(field, forms.BooleanField) else style
        field.widget.attrs.update({"class": style, "id": f"{prefix}-{name}"})


def subject_types() -> list[str]:
    return sorted({declared.subject_type for declared in Event.registry.values()})


class FilterForm(Ranges):
    """Everything is optional; what is no valid value shows nothing rather than everything."""

    since = Instant(label=_("From (UTC)"))
    until = Instant(label=_("Until (UTC)"))
    organisation = forms.ChoiceField(label=_("Organisation"), required=False)
    kind = forms.ChoiceField(label=_("Kind of event"), required=False)
    subject_type = forms.ChoiceField(label=_("Kind of object"), required=False)
    subject_id = forms.CharField(label=_("Object id"), required=False, max_length=64)
    actor = forms.CharField(label=_("Actor id"), required=False, max_length=64)
    actor_kind = forms.ChoiceField(label=_("Kind of actor"), required=False, choices=ACTOR_KINDS)
    channel = forms.ChoiceField(label=_("Channel"), required=False)
    outcome = forms.ChoiceField(label=_("Outcome"), required=False)
    attempts = forms.BooleanField(label=_("List ended attempts too"), required=False)

    def __init__(self, *args: Any, organisations: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer(self, "organisation", organisations)
        _offer(self, "kind", kind_choices())
        _offer(self, "subject_type", [(name, name) for name in subject_types()])
        _offer(self, "channel", list(CHANNELS.items()))
        _offer(self, "outcome", list(OUTCOMES.items()))
        _styled(self, "filter")

    def wanted(self) -> Filter:
        """The filter; only after `is_valid()`.

        Thousands of ended attempts would bury a list of everything, so it leaves them out unless they are asked for.
        A filter for anything but instants is answered in full.
        """
        facts = {name: value for name, value in self.cleaned_data.items() if value}
        asked_for = facts.pop("attempts", False) or not facts.keys() <= {"since", "until"}
        return Filter(**facts) if asked_for else Filter(**facts, without=AttemptEnded.kind)


class ExportForm(Ranges):
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
