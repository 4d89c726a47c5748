"""What events say about profiles, the queue, plans and successions, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import Ledger, State, Told, becomes, sets, together
from governance.rotation.policies import ENTRY_ENDS, OWNER, PLAN_ENDS

NOBODY = {"verdict": "", "ground": "", "proposed_by": "", "decided_by": ""}


def _entry_moved(state: State, event: Told) -> None:
    state["state"] = event.text("after")
    state["owner"] = "" if state["state"] in ENTRY_ENDS else OWNER
    if state["state"] == "queued":
        state.update(NOBODY)
    for name in NOBODY:
        if event.text(name):
            state[name] = event.text(name)


def _plan_moved(state: State, event: Told) -> None:
    before, state["state"] = state.get("state"), event.text("after")
    state["owner"] = "" if state["state"] in PLAN_ENDS else OWNER
    if before == "proposed" and state["state"] == "drawn":
        state["proposed_by"] = ""
    for name in ("proposed_by", "approved_by"):
        if event.text(name):
            state[name] = event.text(name)
    if state["state"] == "composed":
        state["next"] = event.text("task_set")


LEDGERS = [
    Ledger(
        table="rotation_profiling",
        columns=("task_set", "bank", "runs", "path", "tasks", "digest"),
        query="SELECT profiling.id, version.label, bank_digest, runs, path, tasks, profiling.digest "
        "FROM rotation_profiling profiling JOIN benchmark_tasksetversion version ON version.id = task_set_id",
        begins=frozenset({"rotation.profiled"}),
        steps={
            "rotation.profiled": sets(
                task_set="task_set",
                bank="bank_digest",
                runs="runs",
                path="path",
                tasks="tasks",
                digest="digest",
            )
        },
    ),
    Ledger(
        table="rotation_rotationentry",
        columns=("task_set", "cause", "state", "owner", *NOBODY),
        query="SELECT entry.id, version.label, cause, entry.state, owner, verdict, ground, proposed_by, decided_by "
        "FROM rotation_rotationentry entry JOIN benchmark_tasksetversion version ON version.id = task_set_id",
        begins=frozenset({"rotation.queued"}),
        steps={
            "rotation.queued": together(
                sets(task_set="task_set", cause="cause"), becomes(state="queued", owner=OWNER, **NOBODY)
            ),
            "rotation.moved": _entry_moved,
            "rotation.escalated": sets(owner="owner"),
        },
    ),
    Ledger(
        table="rotation_rotationplan",
        columns=(
            *("former", "label", "state", "owner", "seed_digest", "seed", "lines"),
            *("proposed_by", "approved_by", "next"),
        ),
        query="SELECT plan.id, former.label, plan.label, plan.state, owner, seed_digest, seed, lines_digest, "
        "proposed_by, approved_by, next.label FROM rotation_rotationplan plan "
        "JOIN benchmark_tasksetversion former ON former.id = former_id "
        "LEFT JOIN benchmark_tasksetversion next ON next.id = next_id",
        begins=frozenset({"rotation_plan.opened"}),
        steps={
            "rotation_plan.opened": together(
                sets(former="former", label="label", seed_digest="seed_digest"),
                becomes(
                    state="seeded", owner=OWNER, seed="", lines="", proposed_by="", approved_by="", next=""
                ),
            ),
            "rotation_plan.drawn": together(sets(seed="seed", lines="lines"), becomes(state="drawn")),
            "rotation_plan.moved": _plan_moved,
            "rotation_plan.escalated": sets(owner="owner"),
        },
    ),
    Ledger(
        table="rotation_succession",
        columns=("former", "label", "mark"),
        query="SELECT succession.id, former.label, next.label, mark FROM rotation_succession succession "
        "JOIN benchmark_tasksetversion former ON former.id = former_id "
        "JOIN benchmark_tasksetversion next ON next.id = next_id",
        begins=frozenset({"succession.stated"}),
        steps={"succession.stated": sets(former="former", label="label", mark="mark")},
    ),
]
