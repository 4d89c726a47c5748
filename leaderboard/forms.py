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
        field.choices = [
            (name, f"{name} ({times.offset(times.ZoneInfo(name))})") for name in times.known_zones()
        ]
