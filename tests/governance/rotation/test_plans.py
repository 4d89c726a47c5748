"""A plan: its seed is committed, what leaves is drawn by it, two people approve exactly what was drawn."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from accounts.duties.refusals import Reason
from benchmark.models import TaskSetVersion
from config import clock
from governance.rotation import planning, queries, services
from governance.rotation.models import RotationLine, RotationPlan
from submissions.problems import Code
from tests.accounts.duties import acting
from tests.factories import BY, frozen_version, recorded_as
from tests.governance.rotation import rows
from tests.governance.rotation.test_queue import WHY, refused, typed

pytestmark = pytest.mark.django_db(transaction=True)
AGAIN = (
    "INSERT INTO rotation_rotationline (plan_id, task_id, domain, origin, replacement_id, distance, fate) "
    "SELECT plan_id, replacement_id, domain, 'planned', task_id, 0, 'burnt' FROM rotation_rotationline"
)
DOMAINS = ("general", "finance", "supply_chain", "manufacturing")


@pytest.fixture
def version() -> TaskSetVersion:
    """40 held-out tasks in each domain, and 12 in reserve."""
    found = frozen_version("9.0", dict.fromkeys(DOMAINS, (2, 40)))
    rows.reserve("r1", dict.fromkeys(DOMAINS, 12))
    return found


def decided(version: TaskSetVersion, count: int, domain: str = "finance") -> list[Any]:
    """So many entries of a domain decided for rotation, the last with the highest score."""
    one, two = rows.governors()
    found = []
    for number, task in enumerate(rows.held_out(version, domain)[:count]):
        entry = rows.queued(version, task, score=float(number))
        services.suggest(entry.pk, verdict="rotate", reason=WHY, by=acting(one))
        found.append(services.confirm(entry.pk, by=acting(two)))
    return found


def test_what_leaves_is_queue_planned_share_and_cover(version: TaskSetVersion) -> None:
    entries = decided(version, 5)
    rows.profiled(version)
    plan = rows.drawn(version)
    lines = list(plan.lines.all())
    by_domain = {domain: [line for line in lines if line.domain == domain] for domain in DOMAINS}
    # 3 % of 40 is 2 (rounded up), 15 % are 6: three of the queue fit with one task of cover.
    assert {domain: len(found) for domain, found in by_domain.items()} == {
        "general": 2,
        "finance": 6,
        "supply_chain": 2,
        "manufacturing": 2,
    }
    origins = sorted(line.origin for line in by_domain["finance"])
    assert origins == ["cover", "planned", "planned", "queue", "queue", "queue"]
    taken = {line.entry_id for line in lines if line.origin == "queue"}
    assert taken == {entry.pk for entry in entries[2:]}
    assert all(line.replacement.domain == line.domain for line in lines)
    assert plan.checks["failed"] == []
    assert {row.leaving for row in queries.changes(plan)} == {2, 6}


def test_the_same_seed_draws_the_same(version: TaskSetVersion) -> None:
    rows.profiled(version)
    first = rows.drawn(version)
    one, _two = rows.governors()
    planning.discard(first.pk, by=acting(one))
    second = rows.drawn(version)
    assert first.lines_digest == second.lines_digest
    assert first.lines_digest == planning.digest_of(list(second.lines.all()))


def test_refusals(version: TaskSetVersion) -> None:
    plan = rows.planned(version)
    assert refused(lambda: rows.planned(version)) is Code.ROTATION_PLANNED_ALREADY

    def draw(seed: str = rows.SEED) -> RotationPlan:
        return planning.draw(plan.pk, seed=seed, unexposed=set(), by=BY)

    assert refused(lambda: draw("another seed of length")) is Code.ROTATION_SEED
    assert refused(draw) is Code.ROTATION_NO_PROFILE
    short = refused(lambda: planning.open_plan(version, label="x", seed_digest="short", by=BY))
    assert short is Code.ROTATION_SEED
    rows.profiled(version)
    draw()
    assert refused(draw) is Code.ROTATION_MOVED_ON


def test_a_reserve_that_is_too_small_is_said() -> None:
    version = frozen_version("9.0", dict.fromkeys(DOMAINS, (2, 40)))
    rows.reserve("r1", dict.fromkeys(DOMAINS, 1))
    rows.profiled(version)
    assert refused(lambda: rows.drawn(version)) is Code.ROTATION_RESERVE_SHORT


def test_two_people_approve_what_passed_the_checks(version: TaskSetVersion) -> None:
    one, two = rows.governors()
    rows.profiled(version)
    plan = rows.drawn(version)

    def submit() -> RotationPlan:
        return planning.submit(plan.pk, reason=WHY, by=acting(one))

    submit()
    assert refused(submit) is Code.ROTATION_MOVED_ON
    assert refused(lambda: planning.approve(plan.pk, by=acting(one))) is Reason.ONE_PERSON
    planning.send_back(plan.pk, by=acting(two))
    submit()
    assert planning.approve(plan.pk, by=acting(two)).state == "approved"


def test_what_a_baseline_solves_by_chance_is_reported(version: TaskSetVersion) -> None:
    tasks = list(queries.profiled_tasks(version))
    easy = rows.held_out(version)[0]
    tried = [
        rows.Tried(str(task.pk), {"random": (1.0, 0.5, 1.0) if task == easy else (0.0, 0.5, 0.0)})
        for task in tasks
    ]
    row = rows.profiling.record(version, tasks, tried, [], runs=3, seed="s", by=BY)
    assert [found.task for found in rows.profiling.report_chance(row, "random", by=BY)] == [easy]
    assert rows.profiling.report_chance(row, "random", by=BY) == []


def test_the_baseline_by_chance_is_one_of_those_that_run(version: TaskSetVersion, tmp_path: Path) -> None:
    (tmp_path / "run.py").touch()
    asked = ("profile", "--version", version.label, "--random", "dice", "--baselines", str(tmp_path))
    with pytest.raises(CommandError, match="dice is not among the harnesses"):
        call_command("rotation", *asked)


def test_a_plan_that_fails_its_checks_is_not_put_forward(version: TaskSetVersion) -> None:
    (one,) = rows.governors(1)
    tasks = list(queries.profiled_tasks(version))
    rows.profiling.record(
        version,
        tasks,
        [rows.Tried(str(task.pk), {"random": (float(task.group == "reserve"),)}) for task in tasks],
        [],
        runs=1,
        seed="s",
        by=BY,
    )
    plan = rows.drawn(version)
    assert {"smd:random", "classifier", "shift:finance"} <= set(plan.checks["failed"])
    refusal = refused(lambda: planning.submit(plan.pk, reason=WHY, by=acting(one)))
    assert refusal is Code.ROTATION_CHECKS_FAILED


def test_a_proposal_lapses_and_an_overdue_plan_is_escalated(
    version: TaskSetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = rows.governors(1)
    rows.profiled(version)
    plan = rows.drawn(version)
    planning.submit(plan.pk, reason=WHY, by=acting(one))
    later = clock.now() + timedelta(days=8)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert planning.tend(by=BY) == 1
    plan.refresh_from_db()
    assert (plan.state, plan.proposed_by) == ("drawn", None)
    much_later = later + timedelta(days=15)
    monkeypatch.setattr(clock, "now", lambda: much_later)
    assert (planning.tend(by=BY), planning.tend(by=BY)) == (1, 0)
    plan.refresh_from_db()
    assert plan.owner == "administrator"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rotation_rotationplan SET seed = 'other'",
        "UPDATE rotation_rotationplan SET seed_digest = 'other'",
        "UPDATE rotation_rotationplan SET checks = '{}'",
        "UPDATE rotation_rotationplan SET state = 'approved'",
        "DELETE FROM rotation_rotationline",
        "UPDATE rotation_rotationline SET replacement_id = task_id",
        AGAIN,
    ],
)
def test_what_was_drawn_stays(version: TaskSetVersion, statement: str) -> None:
    rows.profiled(version)
    plan = rows.drawn(version)
    before = RotationLine.objects.count()
    with pytest.raises(DatabaseError), recorded_as("rotation_plan", plan.pk):
        typed(statement)
    assert RotationLine.objects.count() == before
