"""Audit event kinds of confirmation runs and dated releases."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class ConfirmationRequested(Event):
    """Asked for, with the consent to publish in the same act."""

    kind: ClassVar[str] = "confirmation.requested"
    subject_type: ClassVar[str] = "confirmation"
    sentence = _("{actor} asked for the confirmation run {subject} of the submission {submission}.")
    submission: str
    harness: str
    task_set: str
    number: int


class ConfirmationMoved(Event):
    """A move; `run` names its evaluation run with the move to running."""

    kind: ClassVar[str] = "confirmation.moved"
    subject_type: ClassVar[str] = "confirmation"
    sentence = _("The confirmation run {subject} moved from {before} to {after} ({cause}).")
    before: str
    after: str
    cause: str
    run: str | None = None


class ConfirmationRunsRepeated(Event):
    kind: ClassVar[str] = "confirmation.lost_runs_repeated"
    subject_type: ClassVar[str] = "confirmation"
    sentence = _("{count} lost runs of the confirmation run {subject} are repeated, round {round}.")
    count: int
    round: int


class ConfirmationSealed(Event):
    """What it gave is fixed, and shown to nobody before a dated release."""

    kind: ClassVar[str] = "confirmation.sealed"
    subject_type: ClassVar[str] = "confirmation"
    sentence = _("{actor} sealed the result of the confirmation run {subject} under the policy {policy}.")
    submission: str
    policy: str
    policy_row: str
    coverage: str
    runs: int
    runs_root: str
    """The salted root over all runs behind the values (governance.commitments)."""


class ConfirmationDated(Event):
    """A dated release published it, with every number shown; or counted it as withdrawn, with none."""

    kind: ClassVar[str] = "confirmation.dated"
    subject_type: ClassVar[str] = "confirmation"
    sentence = _("The confirmation run {subject} entered the dated release {label} as {state}.")
    release_date: str
    label: str
    state: str
    values: dict[str, dict[str, int]] | None = None
    sides: dict[str, dict[str, int]] | None = None


class ReleasePlanned(Event):
    kind: ClassVar[str] = "release.planned"
    subject_type: ClassVar[str] = "release_date"
    sentence = _("{actor} put the date {label} into the public calendar.")
    label: str
    purpose: str
    planned_for: str


class ReleaseDated(Event):
    """The dated release took place: `sha256` is that of its document, empty for errata from before they had one."""

    kind: ClassVar[str] = "release.dated"
    subject_type: ClassVar[str] = "release_date"
    sentence = _("The dated release {label} took place with {results} results.")
    label: str
    sha256: str
    results: int
    withdrawn: int
