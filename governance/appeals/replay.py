"""What events say about appeals, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import Ledger, State, Told, becomes, sets, together


def _escalated(state: State, event: Told) -> None:
    state["escalations"] = str(event.data["times"])


def _drafted(state: State, event: Told) -> None:
    state["drafts"] = str(event.data["number"])


def _effect(state: State, event: Told) -> None:
    done = set(filter(None, (state.get("effects") or "").split(",")))
    state["effects"] = ",".join(sorted(done | {f"{event.text('effect')}={event.text('result')}"}))


LEDGERS = [
    Ledger(
        table="appeals_appeal",
        columns=("about", "task_set", "submission", "domain", "state", "cause", "escalations"),
        query="SELECT appeal.id, subject, version.label, submission_id, domain, appeal.state, cause, escalations "
        "FROM appeals_appeal appeal JOIN benchmark_tasksetversion version ON version.id = appeal.task_set_id",
        begins=frozenset({"appeal.filed"}),
        steps={
            "appeal.filed": together(
                sets(about="about", task_set="task_set", submission="submission", domain="domain"),
                becomes(state="filed", cause="filed", escalations="0"),
            ),
            "appeal.moved": sets(state="after", cause="cause"),
            "appeal.escalated": _escalated,
        },
    ),
    Ledger(
        table="appeals_handling",
        columns=("expert", "engineer"),
        query="SELECT appeal_id, expert, engineer FROM appeals_handling",
        begins=frozenset({"appeal.assigned"}),
        steps={"appeal.assigned": sets(expert="expert", engineer="engineer")},
    ),
    Ledger(
        table="appeals_draft",
        columns=("drafts",),
        query="SELECT appeal_id, count(*) FROM appeals_draft GROUP BY appeal_id",
        begins=frozenset({"appeal.drafted"}),
        steps={"appeal.drafted": _drafted},
    ),
    Ledger(
        table="appeals_ruling",
        columns=("ruling",),
        query="SELECT appeal_id, outcome FROM appeals_ruling",
        begins=frozenset({"appeal.ruled"}),
        steps={"appeal.ruled": sets(ruling="ruling")},
    ),
    Ledger(
        table="appeals_ruledeffect",
        columns=("effects",),
        query="SELECT appeal_id, string_agg(kind || '=' || result, ',' ORDER BY kind || '=' || result) "
        "FROM appeals_ruledeffect WHERE done_at IS NOT NULL GROUP BY appeal_id",
        begins=frozenset({"appeal.effect"}),
        steps={"appeal.effect": _effect},
    ),
]
