"""How far a submission came that did not end well, as one stable word for machines. Pure."""

from __future__ import annotations

from enum import StrEnum

from submissions.problems.codes import Code


class FailureClass(StrEnum):
    INTAKE = "intake"
    """The package was refused."""
    PREFLIGHT = "preflight"
    """The harness failed on public tasks."""
    CANARY = "canary"
    """The harness failed on a public task in the held-out set-up."""
    PLATFORM = "platform"
    """The platform failed, whatever was chosen afterwards."""
    CANCELLED = "cancelled"
    """Its organisation ended it."""
    REVIEW = "review"
    """A review voided it."""


_BY_STATE = {
    "rejected": FailureClass.INTAKE,
    "preflight_failed": FailureClass.PREFLIGHT,
    "cancelled": FailureClass.CANCELLED,
    "paused": FailureClass.PLATFORM,
    "awaiting_choice": FailureClass.PLATFORM,
    "incomplete": FailureClass.PLATFORM,
    "voided": FailureClass.PLATFORM,
}
_BY_CODE = {
    Code.CANARY_FAILED: FailureClass.CANARY,
    Code.DEADLINE_CREATED: FailureClass.PLATFORM,
    Code.VOIDED_AFTER_REVIEW: FailureClass.REVIEW,
}


def failure_class(state: str, code: str) -> FailureClass | None:
    """The class of a submission in `state` for the reason `code`; None where nothing has failed."""
    found = _BY_STATE.get(state)
    return found and _BY_CODE.get(Code(code), found)
