"""The eight duties: what each is for and sees, which exclude each other, and which decisions need two people.

The one list of all this. Policies, pages and documents read it; the database and the verifier hold copies of its
pairs, which tests compare. No Django but for the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

from django.utils.translation import gettext_lazy as _


class Duty(StrEnum):
    """A kind of work that somebody is entrusted with, from one date to another."""

    TASK_AUTHOR = "task_author"
    EVALUATION_ENGINEER = "evaluation_engineer"
    SCORING_MAINTAINER = "scoring_maintainer"
    HELD_OUT_GOVERNOR = "held_out_governor"
    ARBITER = "arbiter"
    AUDITOR = "auditor"
    IDENTITY_REVIEWER = "identity_reviewer"
    ADMINISTRATOR = "administrator"


class Sight(StrEnum):
    """What a duty lets its holder see beyond what everyone sees."""

    HELD_OUT = "held_out"
    PER_TASK = "per_task"
    PACKAGES = "packages"
    CASES = "cases"
    PEOPLE = "people"
    LOG = "log"


KEPT_FROM_VENDORS = frozenset({Sight.HELD_OUT, Sight.PER_TASK, Sight.PACKAGES, Sight.CASES})
"""What nobody may see who works on a harness that is evaluated here: their own questions and others' answers."""


@dataclass(frozen=True)
class Description:
    """What a duty is called and for, and what it sees."""

    name: Any
    work: Any
    sees: frozenset[Sight]


DUTIES: Mapping[Duty, Description] = {
    Duty.TASK_AUTHOR: Description(
        _("task author"),
        _("Writes tasks with their gold answers, and replaces those that leave."),
        frozenset({Sight.HELD_OUT}),
    ),
    Duty.EVALUATION_ENGINEER: Description(
        _("evaluation engineer"),
        _("Runs the evaluation, finds out whose fault a failure was, asks for uses to be returned."),
        frozenset({Sight.PACKAGES, Sight.CASES}),
    ),
    Duty.SCORING_MAINTAINER: Description(
        _("scoring maintainer"),
        _("Keeps rules, checkers and statistics, and asks for changes of policy."),
        frozenset({Sight.HELD_OUT, Sight.PER_TASK}),
    ),
    Duty.HELD_OUT_GOVERNOR: Description(
        _("held-out governor"),
        _("Decides what stays held out, what rotates, what is held, and how often may be asked."),
        frozenset({Sight.HELD_OUT, Sight.PER_TASK, Sight.CASES}),
    ),
    Duty.ARBITER: Description(
        _("arbiter"),
        _("Rules on appeals against what the others did or decided."),
        frozenset({Sight.PER_TASK, Sight.PACKAGES, Sight.CASES}),
    ),
    Duty.AUDITOR: Description(
        _("auditor"),
        _("Checks the log for an audit organisation; within an audit room also what it is about."),
        frozenset({Sight.LOG, Sight.HELD_OUT, Sight.PER_TASK, Sight.PACKAGES}),
    ),
    Duty.IDENTITY_REVIEWER: Description(
        _("identity reviewer"),
        _("Verifies who people and organisations are, and which of them belong together."),
        frozenset({Sight.PEOPLE, Sight.CASES}),
    ),
    Duty.ADMINISTRATOR: Description(
        _("administrator"),
        _("Gives duties and takes them away, suspends accounts, withholds entries of the log."),
        frozenset(),
    ),
}
ASSIGNED = tuple(duty for duty in Duty if duty is not Duty.AUDITOR)
"""Duties that staff assign. Auditors are appointed for a term, with scope and declaration: accounts.auditors."""
KEPT_APART = frozenset(duty for duty in Duty if DUTIES[duty].sees & KEPT_FROM_VENDORS)
"""Duties that nobody holds who is a member of an organisation that can submit, or of the operator's."""

FOUR = (Duty.TASK_AUTHOR, Duty.EVALUATION_ENGINEER, Duty.SCORING_MAINTAINER, Duty.HELD_OUT_GOVERNOR)
_SEPARATED = _(
    "Who makes the tasks, runs them, scores them and governs them are four: none checks their own work."
)
_APPEALED = _("Nobody rules on an appeal against what they did or decided themselves.")
_AUDITED = _("Whoever audits has no part in what is audited.")
_GIVES = _(
    "Whoever gives duties holds none that decides or sees what is held out: they could give it to themselves."
)
_LINKED = _(
    "Whoever knows the people behind an organisation decides neither on its quota and results nor its appeals."
)


def pair(one: Duty, other: Duty) -> frozenset[Duty]:
    """Two duties, in no order."""
    return frozenset({one, other})


CONFLICTS: Mapping[frozenset[Duty], Any] = {
    **{pair(*both): _SEPARATED for both in combinations(FOUR, 2)},
    **{pair(Duty.ARBITER, duty): _APPEALED for duty in FOUR},
    **{pair(Duty.ADMINISTRATOR, duty): _GIVES for duty in (*FOUR, Duty.ARBITER)},
    **{pair(Duty.IDENTITY_REVIEWER, duty): _LINKED for duty in (Duty.HELD_OUT_GOVERNOR, Duty.ARBITER)},
    **{pair(Duty.AUDITOR, duty): _AUDITED for duty in ASSIGNED},
}
"""Pairs that no person holds at the same time, each with the reason."""


class Decision(StrEnum):
    """What takes two people: one proposes, another approves."""

    ROTATION = "rotation"
    RETIREMENT = "retirement"
    QUOTA_GRANT = "quota_grant"
    UNBLINDING = "unblinding"
    AUDIT_ROOM = "audit_room"
    POLICY_CHANGE = "policy_change"
    HOLD = "hold"
    OPERATOR_CASE = "operator_case"
    APPEAL = "appeal"
    IDENTITY = "identity"
    WITHHOLDING = "withholding"
    DUTY = "duty"
    ISSUER = "issuer"


@dataclass(frozen=True)
class TwoPeople:
    """One of `proposers` proposes, one of `approvers` approves; never the same person."""

    name: Any
    proposers: frozenset[Duty]
    approvers: frozenset[Duty]


_GOVERNORS = frozenset({Duty.HELD_OUT_GOVERNOR})
_ADMINISTRATORS = frozenset({Duty.ADMINISTRATOR})
_REVIEWERS = frozenset({Duty.IDENTITY_REVIEWER})

DECISIONS: Mapping[Decision, TwoPeople] = {
    Decision.ROTATION: TwoPeople(_("rotate a task"), _GOVERNORS, _GOVERNORS),
    Decision.RETIREMENT: TwoPeople(_("retire a task"), _GOVERNORS | {Duty.TASK_AUTHOR}, _GOVERNORS),
    Decision.QUOTA_GRANT: TwoPeople(
        _("grant or return a use of the quota"), _GOVERNORS | {Duty.EVALUATION_ENGINEER}, _GOVERNORS
    ),
    Decision.UNBLINDING: TwoPeople(
        _("open what is sealed of a submission"),
        _GOVERNORS | {Duty.EVALUATION_ENGINEER, Duty.ARBITER},
        _GOVERNORS | {Duty.ARBITER},
    ),
    Decision.AUDIT_ROOM: TwoPeople(_("open an audit room"), _GOVERNORS, _ADMINISTRATORS),
    Decision.POLICY_CHANGE: TwoPeople(
        _("change a policy"),
        _GOVERNORS | {Duty.EVALUATION_ENGINEER, Duty.SCORING_MAINTAINER},
        _GOVERNORS,
    ),
    Decision.HOLD: TwoPeople(_("extend a hold, or void what is held"), _GOVERNORS, _GOVERNORS),
    Decision.OPERATOR_CASE: TwoPeople(
        _("decide in a case of the operator's own"), _GOVERNORS, frozenset({Duty.ARBITER})
    ),
    Decision.APPEAL: TwoPeople(
        _("rule on an appeal"),
        frozenset({Duty.ARBITER, Duty.EVALUATION_ENGINEER}),
        frozenset({Duty.ARBITER}),
    ),
    Decision.IDENTITY: TwoPeople(_("register who somebody is"), _REVIEWERS, _REVIEWERS),
    Decision.WITHHOLDING: TwoPeople(
        _("withhold an entry of the log"), _ADMINISTRATORS | _REVIEWERS, _ADMINISTRATORS
    ),
    Decision.DUTY: TwoPeople(_("give somebody a duty"), _ADMINISTRATORS, _ADMINISTRATORS),
    Decision.ISSUER: TwoPeople(
        _("believe an issuer of CI identities by its uploaded keys"), _ADMINISTRATORS, _ADMINISTRATORS
    ),
}


def conflicting(one: Duty, other: Duty) -> bool:
    """Whether no person may hold both at the same time."""
    return pair(one, other) in CONFLICTS
