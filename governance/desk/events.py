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


class CaseOpened(Event):
    kind: ClassVar[str] = "case.opened"
    subject_type: ClassVar[str] = "case"
    sentence = _("{actor} opened the case {subject} about a lineage on {task_set}.")
    task_set: str
    lineage: str
    due_at: str | None = None


class CaseAlarmJoined(Event):
    kind: ClassVar[str] = "case.alarm_joined"
    subject_type: ClassVar[str] = "case"
    sentence = _("{actor} put the alarm {alarm} into the case {subject}.")
    alarm: str


class CaseMoved(Event):
    """`what` is a decision of a reviewer, with the hash of its reason, or what came without one."""

    kind: ClassVar[str] = "case.moved"
    subject_type: ClassVar[str] = "case"
    sentence = _("The case {subject} went from {before} to {after}: {what}.")
    before: str
    after: str
    what: str
    at: str
    due_at: str | None = None
    closed_as: str | None = None
    decided_by: str | None = None
    step: str | None = None
    reason: str | None = None


class CaseQuestionAsked(Event):
    kind: ClassVar[str] = "case.question_asked"
    subject_type: ClassVar[str] = "case_question"
    sentence = _("{actor} asked the vendor of the submission {submission}: {question}.")
    case: str
    submission: str
    question: str


class CaseQuestionAnswered(Event):
    kind: ClassVar[str] = "case.question_answered"
    subject_type: ClassVar[str] = "case_question"
    sentence = _("{actor} answered the question {subject}.")
    answer: str
    at: str


class CaseRead(Event):
    """Somebody was shown what the alarms of a case rest on, task by task; recorded before the body is sent."""

    kind: ClassVar[str] = "case.read"
    subject_type: ClassVar[str] = "case"
    sentence = _("{actor} was shown the evidence in the case {subject}.")
    surface: str
