"""Changes of the problem queue: one transaction a step, with its event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db import transaction

from accounts.duties import queries as duties
from accounts.models import User
from audit import log
from audit.events import Actor
from audit.texts import concealed
from benchmark.models import TaskRevision, TaskSetVersion
from config import clock
from governance.records.problems import events, policies
from governance.records.problems.models import Problem
from submissions.problems import Code, refuse

MOVED = ("state", "state_since", "due_at", "escalated_at", "reason", "fixed_in", "decided_by")
BASELINE = (
    "The random baseline scores more than chance allows on this task; its rules may ask for too little."
)


def report_problem(
    task_set: TaskSetVersion,
    task: TaskRevision | None,
    *,
    source: str,
    evidence: str,
    by: Actor,
    part: str = "rules",
    reference: str = "",
) -> Problem:
    """Put a defect of a version, or of one of its tasks, into the queue. `part` is one of `records.lines.PARTS`.

    Raises Refused (problem_facts): no evidence, or a task of another version.
    """
    if not evidence.strip() or (task is not None and task.version_id != task_set.id):
        raise refuse(Code.PROBLEM_FACTS)
    if part not in dict(Problem._meta.get_field("part").flatchoices) or source not in Problem.Source.values:
        raise refuse(Code.PROBLEM_FACTS)
    now = clock.now()
    with transaction.atomic():
        row = Problem.objects.create(
            task_set=task_set,
            task=task,
            part=part,
            source=source,
            reference=reference,
            evidence=evidence.strip(),
            state_since=now,
            due_at=policies.due_at(policies.INITIAL, now),
            reported_at=now,
        )
        event = events.ProblemReported(
            subject=row.id,
            task_set=task_set.label,
            source=source,
            part=part,
            evidence=concealed(row.evidence),
        )
        log.append(event, by=by)
    return row


def move_problem(
    which: UUID, to: str, *, reason: str, by: Actor, fixed_in: TaskSetVersion | None = None
) -> Problem:
    """Move a problem on, as somebody whose duty it is. `fixed_in` goes with `settled` and with nothing else.

    Raises Refused: problem_move (not from this state), problem_duty, problem_facts (no reason), problem_not_mended
    (that version is not frozen, not a later one, or holds the very same task).
    """
    if not reason.strip():
        raise refuse(Code.PROBLEM_FACTS)
    held = duties.standing(by).duties
    with transaction.atomic():
        row = Problem.objects.select_for_update(of=("self",)).select_related("task").get(pk=which)
        if not held & policies.actors(row.state, is_escalated=row.escalated_at is not None):
            raise refuse(Code.PROBLEM_DUTY)
        if to not in policies.MOVES.get(row.state, ()):
            raise refuse(Code.PROBLEM_MOVE, before=row.state, after=to)
        if (to == Problem.State.SETTLED) != (fixed_in is not None):
            raise refuse(Code.PROBLEM_NOT_MENDED)
        if fixed_in is not None:
            _require_mended(row, fixed_in)
        before, now = row.state, clock.now()
        row.state, row.state_since, row.due_at = to, now, policies.due_at(to, now)
        row.escalated_at, row.reason, row.fixed_in = None, reason.strip(), fixed_in
        row.decided_by = User.objects.get(pseudonym=by.id)
        row.save(update_fields=MOVED)
        event = events.ProblemMoved(
            subject=row.id,
            before=before,
            after=to,
            reason=concealed(row.reason),
            fixed_in=fixed_in.label if fixed_in else None,
        )
        log.append(event, by=by)
    return row


def _require_mended(row: Problem, version: TaskSetVersion) -> None:
    """The later frozen version no longer holds the task as it was; one that it dropped is mended too."""
    is_later = (
        version.pk != row.task_set_id and version.is_frozen and version.created_at > row.task_set.created_at
    )
    same = row.task is not None and TaskRevision.objects.filter(
        version=version, slug=row.task.slug, digest=row.task.digest
    )
    if not is_later or (same is not False and same.exists()):
        raise refuse(Code.PROBLEM_NOT_MENDED)


def escalate_due(*, by: Actor) -> int:
    """Note every problem whose deadline has passed, once for each state; from then on others may act too."""
    found = Problem.objects.filter(due_at__lte=clock.now(), escalated_at=None)
    count = 0
    for which in list(found.values_list("id", flat=True)):
        with transaction.atomic():
            row = Problem.objects.select_for_update().get(pk=which)
            if row.escalated_at is None and row.due_at is not None and row.due_at <= clock.now():
                row.escalated_at = clock.now()
                row.save(update_fields=["escalated_at"])
                log.append(events.ProblemEscalated(subject=row.id, state=row.state), by=by)
                count += 1
    return count


def report_anomalies(
    task_set: TaskSetVersion, scores: Mapping[UUID, Iterable[float]], *, by: Actor
) -> list[Problem]:
    """Report each task, by id, on which the random baseline scores too well; once while a report is open."""
    known = set(
        Problem.objects.filter(task_set=task_set, source=Problem.Source.BASELINE)
        .exclude(state__in=policies.ENDS)
        .values_list("task_id", flat=True)
    )
    wanted = [
        task for task, found in scores.items() if policies.is_anomalous(list(found)) and task not in known
    ]
    tasks = TaskRevision.objects.filter(version=task_set, pk__in=wanted).order_by("slug")
    return [
        report_problem(task_set, task, source=Problem.Source.BASELINE, part="rules", evidence=BASELINE, by=by)
        for task in tasks
    ]
