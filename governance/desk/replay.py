"""What events say about holds and cases, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import INSTANT, Ledger, State, Told, becomes, sets, together


def _ended(state: State, event: Told) -> None:
    state.update(state=event.text("end"), why=event.text("why"), ended=event.text("at"))
    state.update({name: event.text(name) for name in ("ended_by", "ground", "ruling")})


def _moved(state: State, event: Told) -> None:
    state.update(state=event.text("after"), due=event.text("due_at"), outcome=event.text("closed_as"))
    if event.text("decided_by"):
        state["taken_by"] = event.text("decided_by")


LEDGERS = [
    Ledger(
        table="desk_hold",
        columns=(
            *("id", "rule", "state", "placed", "placed_by", "due", "extended", "ended", "why"),
            *("ended_by", "ground", "ruling"),
        ),
        query="SELECT submission_id, id, rule, state, "  # noqa: S608 - expressions of this module
        f"{INSTANT.format('placed_at')}, placed_by, {INSTANT.format('due_at')}, "
        f"{INSTANT.format('extended_until')}, {INSTANT.format('ended_at')}, why, ended_by, ground, ruling "
        "FROM desk_hold",
        begins=frozenset({"hold.placed"}),
        steps={
            "hold.placed": together(
                sets(id="hold", rule="rule", placed="at", placed_by="placed_by", due="due_at"),
                becomes(state="active", extended="", ended="", why="", ended_by="", ground="", ruling=""),
            ),
            "hold.extended": together(sets(extended="until"), becomes(state="extended")),
            "hold.ended": _ended,
        },
    ),
    Ledger(
        table="desk_holdorder",
        columns=("ordered_by",),
        query="SELECT submission_id, ordered_by FROM desk_holdorder",
        begins=frozenset({"hold.ordered"}),
        steps={"hold.ordered": sets(ordered_by="ordered_by")},
    ),
    Ledger(
        table="desk_holddecision",
        columns=(
            *("submission", "kind", "ground", "proposed_by", "approved_by", "approved"),
            *("withdrawn_by", "withdrawn"),
        ),
        query="SELECT id, submission_id, kind, ground, proposed_by, approved_by, "  # noqa: S608 - as above
        f"{INSTANT.format('approved_at')}, withdrawn_by, {INSTANT.format('withdrawn_at')} "
        "FROM desk_holddecision",
        begins=frozenset({"hold.decision_proposed"}),
        steps={
            "hold.decision_proposed": together(
                lambda state, event: state.update(submission=event.subject),
                sets(kind="wanted", ground="ground", proposed_by="proposed_by"),
                becomes(approved_by="", approved="", withdrawn_by="", withdrawn=""),
            ),
            "hold.decision_approved": sets(approved_by="approved_by", approved="at"),
            "hold.decision_withdrawn": sets(withdrawn_by="withdrawn_by", withdrawn="at"),
        },
        key=lambda event: event.text("decision"),
    ),
    Ledger(
        table="desk_case",
        columns=("task_set", "lineage", "state", "due", "outcome", "taken_by"),
        query="SELECT found.id, version.label, lineage_id, found.state, "  # noqa: S608 - as above
        f"{INSTANT.format('due_at')}, outcome, taken_by FROM desk_case found "
        "JOIN benchmark_tasksetversion version ON version.id = found.task_set_id",
        begins=frozenset({"case.opened"}),
        steps={
            "case.opened": together(
                sets(task_set="task_set", lineage="lineage", due="due_at"),
                becomes(state="open", outcome="", taken_by=""),
            ),
            "case.moved": _moved,
        },
    ),
    Ledger(
        table="desk_casealarm",
        columns=("case",),
        query="SELECT alarm_id, case_id FROM desk_casealarm",
        begins=frozenset({"case.alarm_joined"}),
        steps={"case.alarm_joined": lambda state, event: state.update(case=event.subject)},
        key=lambda event: event.text("alarm"),
    ),
    Ledger(
        table="desk_casequestion",
        columns=("case", "submission", "question", "answered"),
        query="SELECT id, case_id, submission_id, question, "  # noqa: S608 - as above
        f"{INSTANT.format('answered_at')} FROM desk_casequestion",
        begins=frozenset({"case.question_asked"}),
        steps={
            "case.question_asked": together(
                sets(case="case", submission="submission", question="question"), becomes(answered="")
            ),
            "case.question_answered": sets(answered="at"),
        },
    ),
]
