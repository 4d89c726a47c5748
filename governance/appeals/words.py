"""What states, turns and results of appeals are called, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from governance.appeals.policies import Owner, State
from submissions.models import Slot, Submission
from submissions.problems import entry

NEXT: dict[str, Promise] = {
    State.FILED: _("An arbiter or an evaluation engineer looks whether it can be examined."),
    State.ADMITTED: _("A business expert and an evaluation engineer without ties to the case are named."),
    State.ASSIGNED: _("The two gather the evidence, and a ruling is drafted."),
    State.DRAFTED: _("Another person, an arbiter, approves the ruling or sends it back."),
    State.RULED: _("What the ruling orders is carried out by the platform."),
    State.CARRIED_OUT: _("Nothing: everything that the ruling orders is done."),
    State.INADMISSIBLE: _("Nothing: it was not examined. Another appeal can be filed while there is time."),
    State.WITHDRAWN: _("Nothing: your organisation withdrew it."),
}
TURNS: dict[str, Promise] = {
    Owner.DECIDERS: _("arbiters and evaluation engineers"),
    Owner.ASSIGNED: _("the business expert and the evaluation engineer of this appeal"),
    Owner.SECOND: _("an arbiter who did not draft the ruling"),
    Owner.PLATFORM: _("the platform"),
    Owner.OUTSIDE: _("an arbiter from outside the operator"),
    Owner.ENGINEERS: _("evaluation engineers"),
}
RESULTS: dict[str, Promise] = {
    "": _("to be done"),
    "done": _("done"),
    "nothing_to_do": _("nothing was left to do"),
    "by_hand": _("ordered; the staff carry it out by hand"),
}
STEPS = (State.FILED, State.ADMITTED, State.ASSIGNED, State.DRAFTED, State.RULED, State.CARRIED_OUT)
"""The way of an appeal that is ruled on."""

FACTS: dict[str, Promise] = {
    "value": pgettext_lazy("appeal", "Score shown"),
    "h": pgettext_lazy("appeal", "Half width of the interval (h)"),
    "use": pgettext_lazy("appeal", "Use of the quota"),
    "cause": pgettext_lazy("appeal", "Because of"),
    "state": pgettext_lazy("appeal", "State of the submission"),
    "code": pgettext_lazy("appeal", "Reason"),
    "since": pgettext_lazy("appeal", "Since"),
}
"""What is kept of the matter when an appeal is filed."""


@dataclass(frozen=True)
class Fact:
    """One fact in words; an instant stands apart, for the page to show in the reader's zone."""

    name: str
    value: str
    at: datetime | None = None


def facts(found: Mapping[str, Any]) -> list[Fact]:
    """In a fixed order; what no table knows stands under its own name."""
    known = [name for name in FACTS if name in found]
    names = [*known, *sorted(set(found) - set(known))]
    return [_fact(name, found[name]) for name in names]


def _fact(name: str, value: Any) -> Fact:
    label = str(FACTS.get(name, name))
    if name == "since":
        return Fact(label, "", datetime.fromisoformat(str(value)))
    return Fact(label, _told(name, str(value)))


def _told(name: str, value: str) -> str:
    states = {"use": dict(Slot.State.choices), "state": dict(Submission.State.choices)}
    if name in states:
        return str(states[name].get(value, value))
    if name in ("code", "cause") and value:
        try:
            return f"{entry(value).title} ({value})"
        except KeyError:
            return value
    return value or "–"
