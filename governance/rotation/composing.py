"""The next version made from the former one and an approved plan: drafted, run by anchors, frozen, and said.

Sealed work, by command. One transaction a step, with its event. Raises Refused, and what benchmark.services raises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Actor
from benchmark import services as benchmark
from benchmark.exporting import write_version
from benchmark.models import Domain, Group, TaskRevision, TaskSetVersion
from benchmark.profiling.limits import SHIFT_BELOW
from benchmark.queries import content_digest
from benchmark.services import TaskSetRefused
from config import clock
from evaluation.grader.admission import admit_many
from governance.records import services as records
from governance.rotation import events, planning, profiling, queries, services, trials
from governance.rotation.models import AnchorRun, RotationEntry, RotationLine, RotationPlan, Succession
from governance.rotation.policies import ANCHORS
from governance.rotation.trials import Baseline
from submissions.problems import Code, refuse

MILLIONTHS = 1_000_000
State = RotationPlan.State
Fate = RotationLine.Fate


def compose(which: UUID, *, by: Actor) -> TaskSetVersion:
    """Draft the next version: what stays, what comes, and the leaving tasks that become public; all admitted anew.

    Raises Refused: rotation_moved_on where the plan is not approved or its lines are not those approved; and
    TaskSetRefused where the label is taken or a task does not pass admission.
    """
    with transaction.atomic(), TemporaryDirectory(prefix="compose-") as place:
        plan = planning.locked(which, State.APPROVED)
        lines = list(plan.lines.select_related("task", "replacement"))
        if planning.digest_of(lines) != plan.lines_digest:
            raise refuse(Code.ROTATION_MOVED_ON)
        root = Path(place)
        folders = write_version(
            root, label=plan.label, synthetic=plan.former.is_synthetic, tasks=members(plan, lines)
        )
        refused = [report for report in admit_many(folders) if not report.passed]
        if refused:
            raise TaskSetRefused(f"{len(refused)} tasks do not pass admission, first {refused[0].task_id}")
        version = benchmark.import_directory(root, by=by)
        benchmark.record_admission(
            version, digest_admitted=content_digest(version), tasks=len(folders), by=by
        )
        plan.next = version
        planning.move(plan, State.COMPOSED, by=by, task_set=version.label, besides=("next",))
    return version


def members(plan: RotationPlan, lines: Sequence[RotationLine]) -> list[tuple[TaskRevision, str]]:
    """Every task of the next version with its group. Burnt, retired and regression cases are in no later version."""
    fates = {line.task_id: line.fate for line in lines}
    coming = {line.replacement_id for line in lines}
    rows = TaskRevision.objects.filter(version=plan.former).select_related(
        "environment_pack", "grading_pack", "gold_pack"
    )
    found = [
        (row, Group.PUBLIC.value if fates.get(row.pk) == Fate.PUBLIC else row.group)
        for row in rows
        if row.pk not in coming and fates.get(row.pk, Fate.PUBLIC) == Fate.PUBLIC
    ]
    return found + [(line.replacement, Group.HELD_OUT.value) for line in lines]


def run_anchors(which: UUID, anchors: Sequence[Baseline], *, runs: int, seed: str, by: Actor) -> None:
    """Run three fixed harnesses on both versions, the last of them twice on the former. Raises ValueError for others.

    What stays is tried with the same random numbers in both versions, so that only what was replaced moves a mean.
    The repetition has other numbers: it shows how far a harness moves against itself.
    """
    if len({anchor.label for anchor in anchors}) != ANCHORS:
        raise ValueError(f"{ANCHORS} different anchors are run")
    with transaction.atomic():
        plan = planning.locked(which, State.COMPOSED)
        assert plan.next is not None
        rows = [
            *_anchored(plan, plan.former, anchors, runs=runs, seed=seed, number=1),
            *_anchored(plan, plan.next, anchors, runs=runs, seed=seed, number=1),
            *_anchored(plan, plan.former, anchors[-1:], runs=runs, seed=f"{seed}, again", number=2),
        ]
        AnchorRun.objects.bulk_create(rows)
        event = events.AnchorsRun(
            subject=plan.id,
            anchors={anchor.label: trials.digest_of(anchor) for anchor in anchors},
            runs=len(rows),
            figures=queries.digest_of([[str(row.id), row.means] for row in rows]),
        )
        log.append(event, by=by)


def _anchored(
    plan: RotationPlan,
    version: TaskSetVersion,
    anchors: Sequence[Baseline],
    *,
    runs: int,
    seed: str,
    number: int,
) -> list[AnchorRun]:
    tasks = list(queries.held_out(version))
    means = profiling.means(tasks, profiling.try_on(tasks, anchors, runs=runs, seed=seed))
    now = clock.now()
    return [
        AnchorRun(
            plan=plan,
            version=version,
            anchor=anchor.label,
            number=number,
            digest=trials.digest_of(anchor),
            path=trials.PATH,
            means={domain: round(mean * MILLIONTHS) for domain, mean in means[anchor.label].items()},
            made_at=now,
        )
        for anchor in anchors
    ]


def put_in_force(which: UUID, *, by: Actor) -> Succession:
    """Freeze the next version, end the entries, state the shift, say the batch in public without a reason.

    Raises Refused: rotation_moved_on, rotation_checks_failed where an anchor moved by 0.6 points or more, or where
    the anchors were not run.
    """
    with transaction.atomic():
        plan = planning.locked(which, State.COMPOSED)
        assert plan.next is not None
        shifts = shifts_of(plan)
        if not shifts or any(abs(row["worst"]) >= SHIFT_BELOW for row in shifts.values()):
            raise refuse(Code.ROTATION_CHECKS_FAILED)
        if not plan.next.is_frozen:
            plan.next = benchmark.freeze(plan.next.label, by=by)
        lines = list(plan.lines.all())
        _end_entries(lines, by=by)
        planning.move(plan, State.IN_FORCE, by=by, task_set=plan.label)
        stated = {
            domain: {"shift": round(row["mean"]), "repeat": round(row["repeat"])}
            for domain, row in shifts.items()
        }
        found = Succession.objects.create(
            former=plan.former, next=plan.next, shifts=stated, stated_at=clock.now()
        )
        event = events.SuccessionStated(
            subject=found.id,
            plan=str(plan.id),
            former=plan.former.label,
            label=plan.next.label,
            mark=found.mark,
            shifts=stated,
        )
        log.append(event, by=by)
        _say(plan, lines, stated, by=by)
    return found


def _end_entries(lines: Sequence[RotationLine], *, by: Actor) -> None:
    """Of every task that left, whether the queue or chance had it leave."""
    rows = RotationEntry.objects.select_for_update().filter(task__in=[line.task_id for line in lines])
    for row in rows.filter(state__in=("rotating", "retiring")):
        services.leave(row, by=by)


def shifts_of(plan: RotationPlan) -> dict[str, dict[str, float]]:
    """By domain, in points: `mean` and `worst` over the anchors, `repeat` of the one run twice; empty if none ran."""
    assert plan.next_id is not None
    runs = {(run.version_id, run.anchor, run.number): run for run in plan.anchors.all()}
    repeated = [key for key in runs if key[2] == 2]
    if not repeated:
        return {}
    found = {}
    for domain in Domain:
        moved = [
            _points(runs[plan.next_id, anchor, 1], runs[version, anchor, number], domain)
            for version, anchor, number in runs
            if version == plan.former_id and number == 1
        ]
        again = [_points(runs[key], runs[key[0], key[1], 1], domain) for key in repeated]
        found[domain.value] = {
            "mean": sum(moved) / len(moved),
            "worst": max(moved, key=abs),
            "repeat": max(again, key=abs),
        }
    return found


def _points(later: AnchorRun, earlier: AnchorRun, domain: Domain) -> float:
    means: tuple[Mapping[str, int], Mapping[str, int]] = (later.means, earlier.means)
    after, before = (row.get(domain.value, 0) for row in means)
    return 100 * (after - before) / MILLIONTHS


def _say(
    plan: RotationPlan, lines: Sequence[RotationLine], stated: Mapping[str, Mapping[str, int]], *, by: Actor
) -> None:
    """One batch, in counts; retired tasks are named once no open version holds them out (`intake.say_retirements`)."""
    fates = Counter(line.fate for line in lines)
    facts: dict[str, str | int] = {"tasks": len(lines), "published": fates[Fate.PUBLIC], "next": plan.label}
    records.add_line("rotation", plan.former, facts=facts, by=by)
    for domain, row in stated.items():
        shift: dict[str, str | int] = {
            "domain": domain,
            "points": row["shift"],
            "repeat": row["repeat"],
            "former": plan.former.label,
        }
        records.add_line("anchor_shift", plan.next, facts=shift, by=by)
