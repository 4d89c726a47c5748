"""Audit event kinds of governance."""

from __future__ import annotations

from typing import ClassVar

from audit.events import Event


class ReleasePolicySet(Event):
    kind: ClassVar[str] = "release_policy.set"
    subject_type: ClassVar[str] = "release_policy"
    task_set: str
    profile: str
    rule: str
    grid_points: int
    rho: str
    tick_seconds: int


class ResultReleased(Event):
    """Names the policy row and every number shown; the event's nonce keeps the leaf from being guessed."""

    kind: ClassVar[str] = "result.released"
    subject_type: ClassVar[str] = "submission"
    policy: str
    values: dict[str, dict[str, int]]
    coverage: str


class ResultRead(Event):
    """A delivery of a result, recorded before its body is sent. `representation` is salted by the nonce."""

    kind: ClassVar[str] = "result.read"
    subject_type: ClassVar[str] = "submission"
    representation: str
    surface: str
