"""The one form of the public pages: which time zone to show."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from leaderboard import times


class TimeZoneForm(forms.Form):
    zone = forms.ChoiceField(label=_("Time zone"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["zone"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(name, _labelled(name)) for name in times.known_zones()]


def _labelled(name: str) -> str:
    """The zone with its present offset, where that says more than the name."""
    offset = times.offset(times.ZoneInfo(name))
    return name if offset == name else f"{name} ({offset})"
