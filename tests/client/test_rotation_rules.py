"""What the verifier says about rotation from the events alone."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from client.audit.rules import rotation as rules
from governance.rotation import policies
from tests.client import synthetic
from tests.client.test_rules import judged

SEED = "sixteen letters and more"
DIGEST = hashlib.sha256(SEED.encode()).hexdigest()
Step = tuple[str, dict[str, Any]]


def entry(*steps: Step) -> list[str]:
    write = synthetic.Scribe(12)
    subject = write.id()
    entries = [
        write.event("rotation.queued", "rotation_entry", subject, task_set="t", task="0:0", cause="hand")
    ]
    entries += [write.event(f"rotation.{word}", "rotation_entry", subject, **facts) for word, facts in steps]
    return [wrong for _, wrong in judged(entries)]


def step(before: str, after: str, **facts: Any) -> Step:
    return "moved", {"before": before, "after": after, **facts}


PROPOSED = step("queued", "proposed", verdict="rotate", proposed_by="a")


def plan(*steps: Step, drawn: dict[str, Any] | None = None) -> list[str]:
    write = synthetic.Scribe(12)
    subject = write.id()

    def said(word: str, facts: dict[str, Any]) -> Any:
        if word == "succession.stated":
            return write.event(word, "succession", write.id(), plan=subject, **facts)
        return write.event(f"rotation_plan.{word}", "rotation_plan", subject, **facts)

    made = {"seed": SEED, "profiling": "p", "leaving": {}, "lines": "l", "failed": []} | (drawn or {})
    entries = [said("opened", {"former": "1", "label": "2", "seed_digest": DIGEST}), said("drawn", made)]
    return [wrong for _, wrong in judged([*entries, *(said(*one) for one in steps)])]


def whole(**approved: Any) -> list[Step]:
    return [
        step("drawn", "proposed", lines="l", proposed_by="a"),
        step("proposed", "approved", **({"lines": "l", "approved_by": "b"} | approved)),
        step("approved", "composed", lines="l"),
        step("composed", "in_force", lines="l"),
        ("succession.stated", {"former": "1", "label": "2", "mark": "annotated", "shifts": {}}),
    ]


def test_the_moves_are_those_of_the_platform() -> None:
    assert policies.ENTRY_MOVES == rules.ENTRY_MOVES
    assert {verdict.value: state for verdict, state in policies.ENTRY_BECOMES.items()} == rules.BECOMES
    told = {**policies.PLAN_MOVES, "seeded": ("discarded",)}
    assert told == rules.PLAN_MOVES


def test_proper_stories() -> None:
    lapsed = step("proposed", "queued")
    decided = step("proposed", "rotating", verdict="rotate", decided_by="b")
    assert entry(PROPOSED, lapsed, PROPOSED, decided, step("rotating", "replaced")) == []
    assert plan(*whole()) == []
    assert (
        plan(step("drawn", "proposed", lines="l", proposed_by="a"), step("proposed", "drawn", lines="l"))
        == []
    )


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        ([PROPOSED, step("proposed", "rotating", verdict="rotate", decided_by="a")], "one person alone"),
        ([PROPOSED, step("proposed", "retiring", verdict="retire", decided_by="b")], "nobody proposed"),
        ([step("queued", "rotating", decided_by="b")], "which it cannot"),
        ([step("rotating", "replaced")], "which it cannot"),
    ],
)
def test_entries_that_cannot_have_moved(steps: list[Step], wrong: str) -> None:
    assert any(wrong in line for line in entry(*steps))


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (plan(*whole(approved_by="a")), "one person alone"),
        (plan(*whole(lines="other")), "other lines than were drawn"),
        (plan(drawn={"seed": "some other seed of letters"}), "another seed"),
        (plan(*whole()[-1:]), "not in force"),
        (plan(step("drawn", "approved", lines="l", approved_by="b")), "which it cannot"),
    ],
)
def test_plans_that_cannot_have_moved(found: list[str], wrong: str) -> None:
    assert any(wrong in line for line in found)
