"""From an approved plan to the next frozen version, on real tasks: packs, admission, anchors, public lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit.replay import Difference, Replay
from benchmark import queries as benchmark
from benchmark import services as versions
from benchmark.models import Group, TaskRevision, TaskSetVersion
from benchmark.synthetic import bank
from benchmark.synthetic.allocate import Slot
from benchmark.taskdir import write_files
from governance.records.models import ChangeLogLine
from governance.rotation import composing, planning, queries, services
from governance.rotation.models import AnchorRun, Profiling, RotationPlan, Succession
from governance.rotation.replay import LEDGERS
from governance.rotation.trials import parsed
from submissions.problems import Code
from tests.accounts.duties import acting
from tests.factories import BY
from tests.governance.rotation import rows
from tests.governance.rotation.test_queue import WHY, refused

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("governance:7")]
Connect = Callable[[str], psycopg.Connection[Any]]
FAMILIES = ("fin-voucher-balance", "gen-dump-extract", "mf-bom-explosion", "sc-reorder-point")
HARNESSES = Path(__file__).parents[2] / "harnesses"
ANCHORS = [parsed(str(HARNESSES / "random") + share) for share in ("", "@10", "@20")]
HELD_OUT, PUBLIC, RESERVE = range(1, 9), (9,), range(11, 19)


GROUPS: Mapping[str, Sequence[int]] = {"held_out": HELD_OUT, "public": PUBLIC, "reserve": RESERVE}
"""Numbers of the tasks of each family: eight are held out, and eight in reserve that are as hard one by one."""


def small_bank(
    root: Path, groups: Mapping[str, Sequence[int]] = GROUPS, families: Sequence[str] = FAMILIES
) -> None:
    """Each family with tasks of these numbers."""
    slots = [
        Slot(family, index, group)
        for family in families
        for group, numbers in groups.items()
        for index in numbers
    ]
    written = sorted(
        (bank._build(bank._Job(root, "8.0", 5, slot, None)) for slot in slots), key=lambda row: row.id
    )
    write_files(root, {"taskset.toml": bank._manifest("8.0", 5, "mini", written)})


def frozen_bank(
    root: Path, groups: Mapping[str, Sequence[int]] = GROUPS, families: Sequence[str] = FAMILIES
) -> TaskSetVersion:
    """The same, imported, admitted and frozen."""
    small_bank(root, groups, families)
    version = versions.import_directory(root, by=BY)
    digest = benchmark.content_digest(version)
    count = sum(len(families) * len(numbers) for numbers in groups.values())
    versions.record_admission(version, digest_admitted=digest, tasks=count, by=BY)
    return versions.freeze("8.0", by=BY)


@pytest.fixture
def former(tmp_path: Path) -> TaskSetVersion:
    return frozen_bank(tmp_path)


def alike(version: TaskSetVersion) -> Profiling:
    """A profile by difficulty alone, under which a task of the reserve equals the one it mirrors."""
    tasks = list(queries.profiled_tasks(version))
    tried = [
        rows.Tried(
            str(task.pk), {"one": ({"basic": 0.9, "intermediate": 0.5, "hard": 0.1}[task.difficulty],)}
        )
        for task in tasks
    ]
    return rows.profiling.record(version, tasks, tried, [], runs=1, seed="s", by=BY)


def approved(version: TaskSetVersion) -> RotationPlan:
    one, two = rows.governors()
    entry = rows.queued(version, rows.held_out(version, "finance")[0])
    services.suggest(entry.pk, verdict="rotate", reason=WHY, by=acting(one))
    services.confirm(entry.pk, by=acting(two))
    alike(version)
    plan = rows.drawn(version, "8.1")
    assert plan.checks["failed"] == []
    planning.submit(plan.pk, reason=WHY, by=acting(one))
    return planning.approve(plan.pk, by=acting(two))


def test_the_next_version_is_made_of_the_approved_plan(former: TaskSetVersion, connect_as: Connect) -> None:
    plan = approved(former)
    lines = list(plan.lines.select_related("task", "replacement"))
    assert len(lines) == len(FAMILIES)
    drafted = composing.compose(plan.pk, by=BY)
    assert refused(lambda: composing.compose(plan.pk, by=BY)) is Code.ROTATION_MOVED_ON
    slugs = dict(TaskRevision.objects.filter(version=drafted).values_list("slug", "group"))
    for line in lines:
        assert slugs[line.replacement.slug] == Group.HELD_OUT
        assert slugs.get(line.task.slug) == ("public" if line.fate == "public" else None)
    assert sum(group == Group.HELD_OUT for group in slugs.values()) == 32
    assert refused(lambda: composing.put_in_force(plan.pk, by=BY)) is Code.ROTATION_CHECKS_FAILED
    composing.run_anchors(plan.pk, ANCHORS, runs=1, seed="anchors", by=BY)
    assert AnchorRun.objects.count() == 7
    found = composing.put_in_force(plan.pk, by=BY)
    drafted.refresh_from_db()
    assert (found.next, drafted.is_frozen, found.mark) == (drafted, True, "annotated")
    assert set(found.shifts) == {"general", "finance", "supply_chain", "manufacturing"}
    assert benchmark.verify(drafted) == []
    assert benchmark.verify(former) == []
    assert queries.succession_after(former) == found == queries.succession_before(drafted)
    assert Succession.objects.count() == 1
    said = list(ChangeLogLine.objects.order_by("said_at").values_list("kind", "facts"))
    published = sum(line.fate == "public" for line in lines)
    assert said[0] == ("rotation", {"tasks": 4, "published": published, "next": "8.1"})
    assert [kind for kind, _ in said[1:]] == ["anchor_shift"] * 4
    taken = set(queries.reserve(drafted).values_list("slug", flat=True))
    assert not taken & {line.replacement.slug for line in lines}
    assert len(taken) == 28
    assert differences(connect_as) == []


def differences(connect_as: Connect) -> list[Difference]:
    """What the log does not explain of the rows, by the auditor's eyes."""
    auditor, follow = connect_as("auditor"), Replay(LEDGERS)
    for position, body in auditor.execute("SELECT id, body FROM audit_event ORDER BY id").fetchall():
        assert follow.see(json.loads(bytes(body)), position) == []
    return list(follow.differences(auditor.execute))


def test_other_anchors_than_three_are_refused(former: TaskSetVersion) -> None:
    with pytest.raises(ValueError, match="3 different anchors"):
        composing.run_anchors(approved(former).pk, ANCHORS[:1] * 3, runs=1, seed="s", by=BY)
