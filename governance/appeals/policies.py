"""What an appeal may do next, who owns each stage until when, who may file and who may rule. Pure: no database."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID

from config import workdays
from submissions.problems.codes import Code


class Subject(StrEnum):
    """What can be appealed against."""

    QUOTA = "quota"
    FAULT = "fault"
    SCORE = "score"
    RULE = "rule"
    HOLD = "hold"
    ROTATION = "rotation"


class State(StrEnum):
    FILED = "filed"
    ADMITTED = "admitted"
    ASSIGNED = "assigned"
    DRAFTED = "drafted"
    RULED = "ruled"
    CARRIED_OUT = "carried_out"
    INADMISSIBLE = "inadmissible"
    WITHDRAWN = "withdrawn"


class Owner(StrEnum):
    """Whose turn it is."""

    DECIDERS = "deciders"
    """Any arbiter or evaluation engineer without a conflict."""
    ASSIGNED = "assigned"
    """The business expert and the evaluation engineer who were named."""
    SECOND = "second"
    """An arbiter who did not draft."""
    PLATFORM = "platform"
    """The tick that carries effects out."""
    OUTSIDE = "outside"
    """An arbiter from outside the operator."""
    ENGINEERS = "engineers"
    """Evaluation engineers, told because the platform did not do its part."""


class Outcome(StrEnum):
    UPHELD = "upheld"
    PARTLY = "partly"
    REJECTED = "rejected"
    INADMISSIBLE = "inadmissible"


class Effect(StrEnum):
    """What a ruling does, each once."""

    REFUND = "refund"
    COOLDOWN = "cooldown"
    LIFT_HOLD = "lift_hold"
    REGRADE = "regrade"
    PROBLEM = "problem"
    LINE = "line"


class Cause(StrEnum):
    """Why an appeal is in its state."""

    FILED = "filed"
    FOUND_ADMISSIBLE = "found_admissible"
    FOUND_INADMISSIBLE = "found_inadmissible"
    PEOPLE_NAMED = "people_named"
    RULING_DRAFTED = "ruling_drafted"
    SENT_BACK = "sent_back"
    RULING_APPROVED = "ruling_approved"
    EFFECTS_DONE = "effects_done"
    WITHDRAWN_BY_VENDOR = "withdrawn_by_vendor"


MOVES: Final[dict[str, tuple[str, ...]]] = {
    State.FILED: (State.ADMITTED, State.INADMISSIBLE, State.WITHDRAWN),
    State.ADMITTED: (State.ASSIGNED, State.WITHDRAWN),
    State.ASSIGNED: (State.DRAFTED, State.WITHDRAWN),
    State.DRAFTED: (State.RULED, State.ASSIGNED, State.WITHDRAWN),
    State.RULED: (State.CARRIED_OUT,),
}
ENDS: Final = frozenset({State.CARRIED_OUT, State.INADMISSIBLE, State.WITHDRAWN})


@dataclass(frozen=True)
class Stage:
    """How long an appeal stays in a state, in working days, whose turn it is, and whose once that is over."""

    days: int
    owner: Owner
    escalates_to: Owner


STAGES: Final[Mapping[str, Stage]] = MappingProxyType(
    {
        State.FILED: Stage(2, Owner.DECIDERS, Owner.OUTSIDE),
        State.ADMITTED: Stage(2, Owner.DECIDERS, Owner.OUTSIDE),
        State.ASSIGNED: Stage(8, Owner.ASSIGNED, Owner.OUTSIDE),
        State.DRAFTED: Stage(3, Owner.SECOND, Owner.OUTSIDE),
        State.RULED: Stage(1, Owner.PLATFORM, Owner.ENGINEERS),
    }
)
ANSWER_DAYS: Final = sum(stage.days for state, stage in STAGES.items() if state != State.RULED)
"""Working days from filing to the ruling."""
WINDOW: Final = timedelta(days=30)
"""After the release, or whatever else is appealed against."""
FREE: Final = 2
"""Appeals of a lineage on one task-set version, but for those that it won or withdrew before they were admitted."""
RECHECKED: Final = 40
"""Runs of a blind re-check; all of the domain where there are fewer."""
THRESHOLD: Final = 90
"""Points of agreement below which the domain is graded again."""

GIVES: Final[Mapping[str, frozenset[Effect]]] = MappingProxyType(
    {
        Subject.QUOTA: frozenset({Effect.REFUND, Effect.COOLDOWN}),
        Subject.FAULT: frozenset({Effect.REFUND, Effect.COOLDOWN, Effect.PROBLEM}),
        Subject.SCORE: frozenset({Effect.REGRADE, Effect.PROBLEM}),
        Subject.RULE: frozenset({Effect.PROBLEM}),
        Subject.HOLD: frozenset({Effect.LIFT_HOLD, Effect.REFUND, Effect.COOLDOWN}),
        Subject.ROTATION: frozenset({Effect.PROBLEM}),
    }
)
"""By subject: effects that a ruling may order. The public line comes with every ruling."""


def may_order(subject: str, outcome: str, effects: Collection[str]) -> bool:
    """Whether a ruling with that outcome may order these; what is rejected can still enter the problem queue."""
    allowed = (
        GIVES[subject] if outcome in (Outcome.UPHELD, Outcome.PARTLY) else GIVES[subject] & {Effect.PROBLEM}
    )
    return outcome != Outcome.INADMISSIBLE and set(effects) <= allowed


def due(state: str, *, since: datetime, filed: datetime, escalations: int) -> datetime | None:
    """Until when it may stay in `state`, in which it is `since`; None at an end.

    Before it is escalated the stages together end with the answer, also where a draft was sent back.
    """
    if state in ENDS:
        return None
    at = workdays.after(since, STAGES[state].days)
    if escalations or state == State.RULED:
        return at
    return min(at, workdays.after(filed, ANSWER_DAYS))


def owner(state: str, *, escalations: int) -> Owner | None:
    """Whose turn it is; None at an end. The answer that was late stays with whoever it went to."""
    if state in ENDS:
        return None
    stage = STAGES[state]
    if state == State.RULED:
        return stage.escalates_to if escalations else stage.owner
    return stage.escalates_to if escalations else stage.owner


def may_withdraw(state: str) -> bool:
    """Until it is ruled on."""
    return State.WITHDRAWN in MOVES.get(state, ())


def counts(*, state: str, outcome: str, was_admitted: bool) -> bool:
    """Whether it is one of the free ones of its version."""
    if state == State.WITHDRAWN:
        return was_admitted
    return outcome not in (Outcome.UPHELD, Outcome.PARTLY)


@dataclass(frozen=True)
class Ties:
    """What binds a person to a case. Lineages are those of organisations, `was_of` counts former members in."""

    person: UUID
    is_of: frozenset[UUID]
    was_of: frozenset[UUID]
    is_from_outside: bool
    """Whether two administrators named them an arbiter from outside the operator."""


@dataclass(frozen=True)
class Concern:
    """Whom a case concerns."""

    lineage: UUID
    took_part: frozenset[UUID]
    """People behind the decision appealed against."""
    competing: frozenset[UUID]
    """Lineages of all organisations that can submit."""
    is_operators: bool
    """Whether the operator's own interests are concerned: it is the operator's appeal."""


def conflict(ties: Ties, concern: Concern) -> Code | None:
    """Why this person has no say in the case; None where they may have one."""
    if ties.person in concern.took_part:
        return Code.APPEAL_TOOK_PART
    bound = ties.is_of | ties.was_of
    if concern.lineage in bound:
        return Code.APPEAL_OF_THE_VENDOR
    if bound & concern.competing:
        return Code.APPEAL_OF_A_COMPETITOR
    if concern.is_operators and not ties.is_from_outside:
        return Code.APPEAL_OUTSIDE_NEEDED
    return None
