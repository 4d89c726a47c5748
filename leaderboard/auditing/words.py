"""Words for the codes that stand in events, as auditors read them: one table by the name of the fact.

What a model lists as choices is taken from there; the exact code stands on the event's own page, in its body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from accounts.duties.table import DUTIES, Duty
from accounts.models import Membership
from audit import wording
from evaluation.fleet.models import EpisodeQuarantine, FleetOrder, Switch
from evaluation.models import Ending, EvaluationRun
from governance.models import ReleasePolicy
from submissions.models import AdmissionStop, Harness, QuotaPolicy, Submission, Upload
from submissions.problems import catalogue

CHANNELS: dict[str, Any] = {
    "web": _("web form"),
    "api": _("API"),
    "system": _("platform"),
    "command": _("command line"),
}
OUTCOMES: dict[str, Any] = {
    "ok": _("done"),
    "refused": _("refused"),
    "fault": _("fault of the platform"),
    **{state.value: state.label for state in Upload.State if state not in ("open", "verifying")},
}
"""What an event may end with: uploads end with their state."""
STATES: dict[str, Any] = {
    **dict(Submission.State.choices),
    "awaiting_choice": _("waiting for the vendor's choice"),
}
WORDS: dict[str, Mapping[str, Any]] = {
    "after": STATES,
    "before": STATES,
    "change": {"first": _("for the first time"), "changed": _("changed since the last time")},
    "consent": {"0": _("not given"), "1": _("given")},
    "duty": {duty.value: DUTIES[duty].name for duty in Duty},
    "ending": dict(Ending.choices),
    "grid_points": {"1": _("1 point")},
    "order": dict(FleetOrder.Kind.choices),
    "outcome": OUTCOMES,
    "profile": dict(QuotaPolicy.Profile.choices),
    "relation": dict(Harness.Relation.choices),
    "role": dict(Membership.Role.choices),
    "rule": dict(ReleasePolicy.Rule.choices),
    "run_kind": dict(EvaluationRun.Kind.choices),
    "scope": dict(FleetOrder.Scope.choices),
    "subject": {"explorer": _("overview"), "submissions": _("running submissions")},
    "switch": dict(Switch.choices),
}
SURFACES: dict[str, Any] = {
    "api": _("API"),
    "auditing": _("auditors' page"),
    "console": _("staff page"),
    "leaderboard": _("web page"),
    "submissions": _("web page"),
}
"""By what stands before the first `-` or `:` of an address's name."""


def say(name: str, value: str) -> str | None:
    """The word for that value of a fact; None where the value is no code."""
    if name == "surface":
        found = SURFACES.get(value.partition(":")[0].partition("-")[0])
    elif name == "cause":
        found = _cause(value)
    else:
        found = WORDS.get(name, {}).get(value)
    return None if found is None else str(found)


def _cause(value: str) -> Any:
    """Why a submission moved, a use was counted or returned, admissions were stopped, or an episode was set apart."""
    entry = {str(code): found for code, found in catalogue().items()}.get(value)
    if entry is not None:
        return entry.title
    return {**dict(AdmissionStop.Cause.choices), **dict(EpisodeQuarantine.Cause.choices)}.get(value)


def sentence(body: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """What the event says, with names of organisations and words for codes."""
    return wording.sentence(body, names, say)
