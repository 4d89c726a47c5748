"""How each state is shown: tone, icon and word. One table per kind of state; every word is translatable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


@dataclass(frozen=True)
class Look:
    """`tone` picks the colour, `icon` the picture, `word` the meaning."""

    tone: str
    icon: str
    word: Any


SUBMISSION: dict[str, Look] = {
    "created": Look("busy", "clock", _("received")),
    "checking": Look("busy", "half", _("checking")),
    "preflight": Look("busy", "half", _("preflight")),
    "queued": Look("busy", "clock", _("queued")),
    "running": Look("busy", "half", _("running")),
    "grading": Look("busy", "half", _("grading")),
    "complete": Look("good", "check", _("complete")),
    "paused": Look("warn", "pause", _("paused")),
    "awaiting_choice": Look("warn", "question", _("your choice is needed")),
    "rejected": Look("bad", "cross", _("rejected at intake")),
    "preflight_passed": Look("good", "check", _("preflight passed")),
    "preflight_failed": Look("bad", "cross", _("preflight failed")),
    "cancelled": Look("calm", "stop", _("cancelled")),
    "incomplete": Look("warn", "half", _("kept, evaluation incomplete")),
    "voided": Look("calm", "stop", _("voided")),
    "held": Look("warn", "lock", _("held for review")),
}

HOLD: dict[str, Look] = {
    "active": Look("warn", "lock", pgettext_lazy("hold", "active")),
    "extended": Look("warn", "lock", pgettext_lazy("hold", "extended once")),
    "lifted": Look("good", "check", pgettext_lazy("hold", "lifted as a false alarm")),
    "released": Look("good", "check", pgettext_lazy("hold", "over, released")),
    "voided": Look("bad", "stop", pgettext_lazy("hold", "voided")),
}

CASE: dict[str, Look] = {
    "open": Look("warn", "question", pgettext_lazy("case", "new")),
    "reviewing": Look("busy", "half", pgettext_lazy("case", "under review")),
    "asked": Look("busy", "question", pgettext_lazy("case", "vendor asked")),
    "watching": Look("calm", "clock", pgettext_lazy("case", "watched")),
    "escalated": Look("bad", "warning", pgettext_lazy("case", "escalated")),
    "closed": Look("calm", "stop", pgettext_lazy("case", "closed")),
}

CASE_OUTCOME: dict[str, Look] = {
    "false_alarm": Look("good", "check", pgettext_lazy("case", "false alarm")),
    "settled": Look("calm", "check", pgettext_lazy("case", "settled")),
    "quiet": Look("calm", "clock", pgettext_lazy("case", "no further alarm")),
    "lapsed": Look("calm", "clock", pgettext_lazy("case", "not decided in time, no finding")),
}

CASE_ACT: dict[str, Look] = {
    "take": Look("busy", "half", pgettext_lazy("case", "taken up")),
    "watch": Look("calm", "clock", pgettext_lazy("case", "kept under watch")),
    "hold": Look("warn", "lock", pgettext_lazy("case", "hold ordered")),
    "ask": Look("busy", "question", pgettext_lazy("case", "vendor asked")),
    "link": Look("busy", "half", pgettext_lazy("case", "handed to link review")),
    "false_alarm": Look("good", "check", pgettext_lazy("case", "false alarm")),
    "rotate": Look("warn", "half", pgettext_lazy("case", "tasks proposed for rotation")),
    "settle": Look("calm", "check", pgettext_lazy("case", "settled")),
}

CONFIRMATION: dict[str, Look] = {
    "requested": Look("busy", "clock", _("asked for")),
    "queued": Look("busy", "clock", _("queued")),
    "running": Look("busy", "half", _("running")),
    "grading": Look("busy", "half", _("grading")),
    "confirmed": Look("good", "check", _("confirmed")),
    "incomplete": Look("warn", "half", _("ended incomplete")),
    "withdrawn": Look("calm", "stop", _("withdrawn")),
}

PROBLEM: dict[str, Look] = {
    "reported": Look("warn", "clock", pgettext_lazy("problem", "reported")),
    "confirmed": Look("bad", "cross", pgettext_lazy("problem", "confirmed")),
    "mended": Look("busy", "half", pgettext_lazy("problem", "mended, waits for a version")),
    "settled": Look("good", "check", pgettext_lazy("problem", "settled")),
    "dismissed": Look("calm", "stop", pgettext_lazy("problem", "dismissed")),
}

ORGANISATION: dict[str, Look] = {
    "under_review": Look("warn", "clock", _("under review")),
    "verified": Look("good", "check", _("verified")),
    "expired": Look("warn", "clock", _("verification expired")),
    "suspended": Look("bad", "stop", _("suspended")),
}

REGISTRATION: dict[str, Look] = {
    "filed": Look("warn", "clock", _("to be reviewed")),
    "proposed": Look("warn", "clock", _("to be confirmed")),
    "verified": Look("good", "check", _("verified")),
    "refused": Look("bad", "cross", _("refused")),
    "more_asked": Look("calm", "clock", _("more information needed")),
    "overdue": Look("bad", "stop", _("overdue")),
}

LINK: dict[str, Look] = {
    "open": Look("warn", "clock", _("to be reviewed")),
    "proposed": Look("warn", "clock", _("to be confirmed")),
    "linked": Look("calm", "check", _("linked")),
    "cleared": Look("good", "check", _("cleared")),
    "parting": Look("warn", "clock", _("linked, to be parted")),
    "parted": Look("good", "check", _("parted again")),
}

TOKEN: dict[str, Look] = {
    "active": Look("good", "check", _("active")),
    "expired": Look("calm", "clock", _("expired")),
    "revoked": Look("calm", "stop", _("revoked")),
}

UPSTREAM: dict[str, Look] = {
    "active": Look("good", "check", _("active")),
    "no_credential": Look("warn", "question", _("without credential")),
    "retired": Look("calm", "stop", _("retired")),
}

RUN_ENDING: dict[str, Look] = {
    "finished": Look("good", "check", _("finished")),
    "crashed": Look("bad", "cross", _("crashed")),
    "budget_exhausted": Look("warn", "clock", _("budget exhausted")),
    "limit_exceeded": Look("warn", "warning", _("limit exceeded")),
    "infrastructure_fault": Look("warn", "warning", _("infrastructure fault")),
}

CHECK: dict[str, Look] = {
    "passed": Look("good", "check", _("passed")),
    "failed": Look("bad", "cross", _("failed")),
    "not_available": Look("calm", "ring", _("not available here")),
    "open": Look("calm", "ring", _("not yet")),
}

EVALUATION_RUN: dict[str, Look] = {
    "executing": Look("busy", "half", _("executing")),
    "grading": Look("busy", "half", _("grading")),
    "ended": Look("good", "check", _("ended")),
    "cancelled": Look("calm", "stop", _("cancelled")),
}

WORKER: dict[str, Look] = {"silent": Look("warn", "warning", _("silent"))}

SWITCH: dict[str, Look] = {
    "on": Look("good", "check", pgettext_lazy("switch", "on")),
    "paused": Look("warn", "pause", pgettext_lazy("switch", "paused")),
}

FLEET_ORDER: dict[str, Look] = {
    "drain": Look("warn", "half", pgettext_lazy("fleet", "draining")),
    "quarantine": Look("bad", "stop", pgettext_lazy("fleet", "in quarantine")),
}

PUBLISHER: dict[str, Look] = {
    "active": Look("good", "check", _("active")),
    "removed": Look("calm", "stop", _("removed")),
}

DUTY: dict[str, Look] = {
    "proposed": Look("warn", "question", _("to be confirmed")),
    "due": Look("warn", "clock", _("review due")),
    "held": Look("good", "check", _("held")),
    "coming": Look("calm", "clock", _("not begun")),
    "over": Look("calm", "stop", _("over")),
}

ROOM: dict[str, Look] = {
    "proposed": Look("warn", "question", _("to be opened")),
    "open": Look("good", "check", _("open")),
    "over": Look("calm", "stop", _("over")),
}

RETURN: dict[str, Look] = {
    "proposed": Look("warn", "question", _("to be approved")),
    "approved": Look("good", "check", _("approved")),
    "withdrawn": Look("calm", "stop", _("withdrawn")),
}

APPEAL: dict[str, Look] = {
    "filed": Look("busy", "clock", pgettext_lazy("appeal", "filed")),
    "admitted": Look("busy", "clock", pgettext_lazy("appeal", "admitted")),
    "assigned": Look("busy", "half", pgettext_lazy("appeal", "being examined")),
    "drafted": Look("busy", "half", pgettext_lazy("appeal", "ruling being approved")),
    "ruled": Look("good", "check", pgettext_lazy("appeal", "ruled on")),
    "carried_out": Look("good", "check", pgettext_lazy("appeal", "ruled and carried out")),
    "inadmissible": Look("bad", "cross", pgettext_lazy("appeal", "inadmissible")),
    "withdrawn": Look("calm", "stop", pgettext_lazy("appeal", "withdrawn")),
}

RECHECK: dict[str, Look] = {
    "committed": Look("warn", "question", pgettext_lazy("recheck", "waits for your word")),
    "revealed": Look("busy", "clock", pgettext_lazy("recheck", "waits for the draw")),
    "drawn": Look("busy", "half", pgettext_lazy("recheck", "being judged")),
    "judged": Look("busy", "half", pgettext_lazy("recheck", "judged, shown on the next tick")),
    "shown": Look("good", "check", pgettext_lazy("recheck", "done")),
    "lapsed": Look("calm", "stop", pgettext_lazy("recheck", "not held")),
}

RULING: dict[str, Look] = {
    "upheld": Look("good", "check", pgettext_lazy("ruling", "upheld")),
    "partly": Look("warn", "half", pgettext_lazy("ruling", "upheld in part")),
    "rejected": Look("bad", "cross", pgettext_lazy("ruling", "rejected")),
    "inadmissible": Look("bad", "cross", pgettext_lazy("ruling", "inadmissible")),
}

DECISION: dict[str, Look] = {
    "possible": Look("good", "check", _("yes")),
    "nobody": Look("bad", "cross", _("not by two people")),
}

EXPORT: dict[str, Look] = {
    "requested": Look("busy", "clock", _("waiting")),
    "running": Look("busy", "half", _("being made")),
    "done": Look("good", "check", _("ready")),
    "failed": Look("bad", "cross", _("failed")),
}

WEBHOOK: dict[str, Look] = {
    "on": Look("good", "check", _("on")),
    "failing": Look("warn", "warning", _("failing")),
    "off": Look("bad", "stop", _("switched off")),
}

DELIVERY: dict[str, Look] = {
    "waiting": Look("busy", "clock", _("waiting")),
    "delivered": Look("good", "check", _("accepted")),
    "failed": Look("bad", "cross", _("given up")),
}

ROTATION: dict[str, Look] = {
    "queued": Look("warn", "clock", pgettext_lazy("rotation", "queued")),
    "proposed": Look("warn", "question", pgettext_lazy("rotation", "decision proposed")),
    "watching": Look("busy", "half", pgettext_lazy("rotation", "watched further")),
    "rotating": Look("busy", "clock", pgettext_lazy("rotation", "leaves with the next version")),
    "retiring": Look("busy", "clock", pgettext_lazy("rotation", "retires with the next version")),
    "replaced": Look("good", "check", pgettext_lazy("rotation", "replaced")),
    "retired": Look("calm", "stop", pgettext_lazy("rotation", "retired")),
    "dismissed": Look("calm", "stop", pgettext_lazy("rotation", "false alarm")),
}

PLAN: dict[str, Look] = {
    "seeded": Look("busy", "lock", pgettext_lazy("plan", "seed committed")),
    "drawn": Look("warn", "clock", pgettext_lazy("plan", "drawn")),
    "proposed": Look("warn", "question", pgettext_lazy("plan", "proposed")),
    "approved": Look("good", "check", pgettext_lazy("plan", "approved")),
    "composed": Look("busy", "half", pgettext_lazy("plan", "next version drafted")),
    "in_force": Look("good", "check", pgettext_lazy("plan", "in force")),
    "discarded": Look("calm", "stop", pgettext_lazy("plan", "discarded")),
}

STOCK: dict[str, Look] = {
    "enough": Look("good", "check", pgettext_lazy("stock", "enough")),
    "short": Look("warn", "warning", pgettext_lazy("stock", "short")),
}

NOTICE: dict[str, Look] = {"unread": Look("busy", "bell", _("unread"))}

KINDS: dict[str, dict[str, Look]] = {
    "submission": SUBMISSION,
    "confirmation": CONFIRMATION,
    "hold": HOLD,
    "case": CASE,
    "case_outcome": CASE_OUTCOME,
    "case_act": CASE_ACT,
    "organisation": ORGANISATION,
    "registration": REGISTRATION,
    "link": LINK,
    "token": TOKEN,
    "upstream": UPSTREAM,
    "publisher": PUBLISHER,
    "ending": RUN_ENDING,
    "check": CHECK,
    "run": EVALUATION_RUN,
    "worker": WORKER,
    "switch": SWITCH,
    "fleet_order": FLEET_ORDER,
    "duty": DUTY,
    "room": ROOM,
    "problem": PROBLEM,
    "return": RETURN,
    "decision": DECISION,
    "appeal": APPEAL,
    "ruling": RULING,
    "rotation": ROTATION,
    "plan": PLAN,
    "stock": STOCK,
    "recheck": RECHECK,
    "export": EXPORT,
    "notice": NOTICE,
    "webhook": WEBHOOK,
    "delivery": DELIVERY,
}


def look(kind: str, state: str) -> Look:
    """The look of a state; an unknown one is shown as it is, in the calm tone."""
    return KINDS[kind].get(state) or Look("calm", "ring", state)


#: Why a refusal names no date.
NO_DATE: dict[str, Any] = {
    "next_task_set_version": _("No date: the count starts anew with the next task-set version."),
    "when_the_submission_in_flight_ends": _(
        "No date: possible as soon as the submission in flight has ended."
    ),
    "not_a_matter_of_time": _("No date: this does not pass by waiting."),
}

#: What each rule of a quota window counts.
COUNTERS: dict[str, Any] = {
    "line": _("On this harness, all versions"),
    "lineage": _("In the organisation, with linked accounts"),
    "account": _("By you"),
    "in_flight": _("In flight on this harness"),
    "preflight": _("Preflights of this harness in seven days"),
    "preflights_in_flight": _("Preflights of the organisation in flight"),
    "cooldown": _("Cooldown"),
}

#: The closed list of failure types.
FAILURES: dict[str, Any] = {
    "missing_deliverable": _("missing deliverable"),
    "numeric_or_state_error": _("numeric or state error"),
    "business_constraint_violation": _("business-constraint violation"),
    "insufficient_semantic_quality": _("insufficient semantic quality"),
    "budget_exhausted": _("budget exhausted"),
}

PROFILES: dict[str, Any] = {"official": _("official policy"), "demo": _("demo policy")}

#: Parts of an evaluation that carry a version of their own.
COMPONENTS: dict[str, Any] = {
    "task_set": _("Task-set version"),
    "protocol": _("Evaluation protocol"),
    "evaluator": _("Evaluator"),
}

#: Which sandbox a probe ran in.
SANDBOXES: dict[str, Any] = {"agent": _("of the harness"), "grader": _("of the grader")}

#: States of episodes, for staff.
EPISODES: dict[str, Any] = {
    "ready": _("waiting for a worker"),
    "leased": _("running on a worker"),
    "executed": _("waiting for a grader"),
    "grading": _("being graded"),
    "graded": _("graded"),
    "unavailable": _("unavailable"),
    "quarantined": _("set apart"),
    "cancelled": _("cancelled"),
}

#: Why a rule item has its score; codes of the grader.
RULE_REASONS: dict[str, Any] = {
    "met": _("met"),
    "partly_met": _("partly met"),
    "wrong": _("wrong"),
    "missing": _("missing"),
    "not_regular": _("not a regular file"),
    "too_large": _("too large"),
    "malformed": _("cannot be read"),
    "column_missing": _("a column is missing"),
    "contract_broken": _("breaks the table's contract"),
    "no_such_row": _("no such row"),
}
