"""A hold as its vendor sees it on pages and over the API: what `statements` allows, read without what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.models import Organisation
from config import clock
from governance.desk.models import CaseQuestion, Hold
from governance.desk.rules import GROUNDS, QUESTIONS, RULES, Question, Rule
from governance.desk.statements import Audience, Fact, Statement, statement
from submissions.models import Submission

TOLD = (
    *("id", "submission_id", "rule", "state", "placed_at", "due_at", "extended_until", "ended_at"),
    "ground",
)
"""Columns that the process that serves vendors may read, and needs."""


@dataclass(frozen=True)
class Told:
    """What is said of one hold. Facts that its state does not allow are None or empty."""

    state: str
    rule: Rule
    said: Statement
    placed_at: datetime
    until: datetime | None
    ended_at: datetime | None
    ground: str
    may_appeal: bool
    is_released: bool

    def as_dict(self) -> dict[str, Any]:
        """Machine form; sentences in the active language."""
        return {
            "state": self.state,
            "rule": {
                "code": self.rule.code,
                "name": str(self.rule.name),
                "sentence": str(self.rule.sentence),
            },
            "now": str(self.said.now),
            "then": "" if self.is_released else str(self.said.then),
            "placed_at": self.placed_at,
            "until": self.until,
            "ended_at": self.ended_at,
            "ground": self.ground,
            "may_appeal": self.may_appeal,
        }


def told(submission: Submission) -> Told | None:
    """What its vendor is told of the hold of a submission that the caller may see; None where there is none."""
    hold = Hold.objects.filter(submission=submission).only(*TOLD).first()
    if hold is None:
        return None
    said = statement(hold.state, Audience.VENDOR)
    ground = GROUNDS.get(hold.ground) if Fact.GROUND in said.facts else None
    return Told(
        state=hold.state,
        rule=RULES[hold.rule],
        said=said,
        placed_at=hold.placed_at,
        until=hold.until if Fact.UNTIL in said.facts else None,
        ended_at=hold.ended_at if Fact.ENDED_AT in said.facts else None,
        ground=str(ground.sentence) if ground else "",
        may_appeal=Fact.APPEAL in said.facts,
        is_released=submission.state == Submission.State.COMPLETE,
    )


ASKED = ("id", "submission_id", "question", "asked_at", "due_at", "answered_at")
"""Columns of a question that the process that serves vendors may read."""


def asked(organisation: Organisation, which: UUID) -> tuple[CaseQuestion, Question] | None:
    """A question to this organisation, with its words; None where there is no such one."""
    rows = CaseQuestion.objects.filter(pk=which, submission__organisation=organisation).only(*ASKED)
    row = rows.first()
    return (row, QUESTIONS[row.question]) if row else None


def open_questions(submission: Submission) -> list[CaseQuestion]:
    """Questions about a submission that wait for an answer."""
    rows = CaseQuestion.objects.filter(submission=submission, answered_at=None, due_at__gt=clock.now())
    return list(rows.only(*ASKED).order_by("asked_at"))
