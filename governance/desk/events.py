"""Audit event kinds of holds. What people wrote stands in them as `audit.texts.concealed` only."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class HoldOrdered(Event):
    kind: ClassVar[str] = "hold.ordered"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} ordered that the result of the submission {subject} is held before its release.")
    ordered_by: str
    reason: str


class HoldPlaced(Event):
    """`alarms` are those that did it; `placed_by` is who ordered it where none did."""

    kind: ClassVar[str] = "hold.placed"
    subject_type: ClassVar[str] = "submission"
    sentence = _(
        "{actor} held the result of the submission {subject} under the rule {rule}, at most until {due_at}."
    )
    hold: str
    rule: str
    at: str
    due_at: str
    alarms: list[str] | None = None
    placed_by: str | None = None


class HoldDecisionProposed(Event):
    kind: ClassVar[str] = "hold.decision_proposed"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} proposed about the hold of the submission {subject}: {wanted}.")
    decision: str
    wanted: str
    proposed_by: str
    reason: str
    ground: str | None = None


class HoldDecisionApproved(Event):
    kind: ClassVar[str] = "hold.decision_approved"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} approved what was proposed about the hold of the submission {subject}: {wanted}.")
    decision: str
    wanted: str
    approved_by: str
    at: str


class HoldDecisionWithdrawn(Event):
    kind: ClassVar[str] = "hold.decision_withdrawn"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} withdrew what was proposed about the hold of the submission {subject}: {wanted}.")
    decision: str
    wanted: str
    withdrawn_by: str
    at: str


class HoldExtended(Event):
    kind: ClassVar[str] = "hold.extended"
    subject_type: ClassVar[str] = "submission"
    sentence = _("The hold of the submission {subject} was extended once, at most until {until}.")
    hold: str
    decision: str
    until: str


class HoldEnded(Event):
    """`end` is lifted (a false alarm: use returned, cooldown ended), released or voided; `why` says how."""

    kind: ClassVar[str] = "hold.ended"
    subject_type: ClassVar[str] = "submission"
    sentence = _("The hold of the submission {subject} ended: {end}, {why}.")
    hold: str
    end: str
    why: str
    at: str
    reason: str | None = None
    ended_by: str | None = None
    decision: str | None = None
    ruling: str | None = None
    ground: str | None = None
