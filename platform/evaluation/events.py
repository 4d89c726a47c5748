"""Audit event kinds of evaluation. An episode's claims and lease renewals have none; each ended attempt has one."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class RunCreated(Event):
    kind: ClassVar[str] = "run.created"
    subject_type: ClassVar[str] = "run"
    sentence = _("{actor} created the run {subject} ({run_kind}) on {task_set} with {episodes} episodes.")
    run_kind: str
    task_set: str
    package: str
    runs_per_task: int
    episodes: int


class RunCancelled(Event):
    kind: ClassVar[str] = "run.cancelled"
    subject_type: ClassVar[str] = "run"
    sentence = _("{actor} cancelled the run {subject}.")


class RunExecuted(Event):
    kind: ClassVar[str] = "run.executed"
    subject_type: ClassVar[str] = "run"
    sentence = _("All episodes of the run {subject} were executed.")


class RunEnded(Event):
    """`isolation` and `speed` are the grades and classes of all its hosts, joined by "; "."""

    kind: ClassVar[str] = "run.ended"
    subject_type: ClassVar[str] = "run"
    sentence = _("The run {subject} ended; {missing} episodes have no valid result.")
    missing: int
    isolation: str = ""
    speed: str = ""
    served_otherwise: str = ""
    """Roles for which another model than the pinned one answered, joined by ", "."""


class RunReopened(Event):
    kind: ClassVar[str] = "run.reopened"
    subject_type: ClassVar[str] = "run"
    sentence = _("{actor} reopened the run {subject} to repeat {episodes} episodes.")
    episodes: int
    quarantined: int | None = None
    """How many of those missing are not repeated, since they are in quarantine."""


class AttemptEnded(Event):
    """`subject` is the attempt's opaque id; nothing in it names the task."""

    kind: ClassVar[str] = "attempt.ended"
    subject_type: ClassVar[str] = "attempt"
    sentence = _("Attempt {number} of an episode of the run {run} ended: {ending}.")
    run: str
    number: int
    ending: str
    artefact: str = ""


class UpstreamRegistered(Event):
    """`description` is concealed: name, address, model and limits (evaluation.upstreams.facts)."""

    kind: ClassVar[str] = "upstream.registered"
    subject_type: ClassVar[str] = "upstream"
    sentence = _("{actor} registered the model upstream {subject} ({dialect}); exposure: {exposure}.")
    organisation: str | None = None
    dialect: str
    exposure: str
    ceiling: str
    description: str


class UpstreamChanged(Event):
    """Its name or its limits; what is called never changes."""

    kind: ClassVar[str] = "upstream.changed"
    subject_type: ClassVar[str] = "upstream"
    sentence = _(
        "{actor} changed name or limits of the model upstream {subject}; spending ceiling: {ceiling}."
    )
    ceiling: str
    description: str


class UpstreamCredentialSet(Event):
    """No event holds anything of the credential."""

    kind: ClassVar[str] = "upstream.credential_set"
    subject_type: ClassVar[str] = "upstream"
    sentence = _("{actor} set the credential of the model upstream {subject}.")


class UpstreamTrialAsked(Event):
    kind: ClassVar[str] = "upstream.trial_asked"
    subject_type: ClassVar[str] = "upstream"
    sentence = _("{actor} asked for a trial call to the model upstream {subject}.")
    trial: str


class UpstreamTried(Event):
    kind: ClassVar[str] = "upstream.tried"
    subject_type: ClassVar[str] = "upstream"
    sentence = _("A trial call to the model upstream {subject} ended: {outcome}.")
    trial: str
    milliseconds: int | None = None


class UpstreamRetired(Event):
    """Nothing calls it any more, and its credential is destroyed."""

    kind: ClassVar[str] = "upstream.retired"
    subject_type: ClassVar[str] = "upstream"
    sentence = _("{actor} retired the model upstream {subject}.")


class UpstreamStopped(Event):
    """Nothing calls it until it is resumed; runs that need it wait, and no clock of theirs runs."""

    kind: ClassVar[str] = "upstream.stopped"
    subject_type: ClassVar[str] = "upstream"
    sentence = _("Calls to the model upstream {subject} stopped: {cause}.")
    cause: str
    stop: str


class UpstreamResumed(Event):
    kind: ClassVar[str] = "upstream.resumed"
    subject_type: ClassVar[str] = "upstream"
    sentence = _("Calls to the model upstream {subject} go on; they had stopped: {cause}.")
    cause: str
    stop: str


class UnlistedModel(Event):
    """Once for each attempt; what was asked for is the harness's text and stays out."""

    kind: ClassVar[str] = "model.refused"
    subject_type: ClassVar[str] = "attempt"
    sentence = _("The attempt {subject} asked for a model that its HarnessCard does not list.")
