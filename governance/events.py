"""Audit event kinds of governance."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class ReleasePolicySet(Event):
    """`people`, by pseudonym, are who proposed and who approved an official policy."""

    kind: ClassVar[str] = "release_policy.set"
    version: ClassVar[int] = 3
    subject_type: ClassVar[str] = "release_policy"
    sentence = _("{actor} set the release policy {subject} of {task_set}: {rule}, grid of {grid_points}.")
    task_set: str
    profile: str
    rule: str
    grid_points: int
    rho: str
    tick_seconds: int
    people: list[str] | None = None
    fewest_changed: int | None = None
    budget_millibits: int | None = None
    confirmation_millibits: int | None = None


class LeakCharged(Event):
    """What an answer can tell at most, charged in the transaction that shows it; `spent` counts it in."""

    kind: ClassVar[str] = "leak.charged"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} charged the information that the result of the submission {subject} can carry.")
    charge: str
    task_set: str
    lineage: str
    millibits: int
    spent: int
    budget: int


class ResultReleased(Event):
    """Names the policy row and every number shown; the event's nonce keeps the leaf from being guessed."""

    kind: ClassVar[str] = "result.released"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} released the result of the submission {subject} under the policy {policy}.")
    policy: str
    policy_row: str
    """SHA-256 of the policy row's canonical form, half widths included."""
    values: dict[str, dict[str, int]]
    bounds: dict[str, dict[str, int]] | None = None
    """By domain, where the result is incomplete."""
    coverage: str
    runs: int
    silences: dict[str, str] | None = None
    """By domain without a value: why."""
    runs_root: str
    """The salted root over all runs behind the values (governance.commitments)."""


class ResultRead(Event):
    """A delivery of a result, recorded before its body is sent; see `audit.read_events`."""

    kind: ClassVar[str] = "result.read"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} was given the result of the submission {subject} ({surface}).")
    representation: str
    surface: str
    precision: str
