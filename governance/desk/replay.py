"""What events say about holds, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import INSTANT, Ledger, State, Told, becomes, sets, together


def _ended(state: State, event: Told) -> None:
    state.update(state=event.text("end"), why=event.text("why"), ended=event.text("at"))
    state.update({name: event.text(name) for name in ("ended_by", "ground", "ruling")})


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
]
