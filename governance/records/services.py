"""Changes of the public records: lines of the change log, and the fingerprints that texts are checked by."""

from __future__ import annotations

import hashlib

import structlog
from django.db import transaction

from audit import log
from audit.events import Actor
from benchmark.models import TaskSetVersion
from config import clock
from config.store import ObjectMissing
from config.vault import SealBroken
from governance.correcting import services as correcting
from governance.correcting.models import Cause, Correction, Regrading
from governance.records import events, queries
from governance.records.adding import add_line, require_clean
from governance.records.errata import errata_document
from governance.records.linter import building
from governance.records.models import LeakIndex
from governance.records.problems.queries import mended_revisions
from governance.records.problems.services import (
    escalate_due,
    move_problem,
    report_anomalies,
    report_problem,
)
from submissions.models import Submission

__all__ = [
    "add_line",
    "carry_out_regradings",
    "errata_document",
    "escalate_due",
    "make_index",
    "make_indexes",
    "move_problem",
    "regrade_result",
    "report_anomalies",
    "report_problem",
    "require_clean",
]

logger = structlog.get_logger(__name__)


def make_index(task_set: TaskSetVersion, *, by: Actor) -> LeakIndex:
    """Make the version's fingerprints once. Sealed work only; raises KeyWithheld, store.ObjectMissing."""
    found = LeakIndex.objects.filter(task_set=task_set).first()
    if found is not None:
        return found
    made = building.fingerprints(task_set)
    with transaction.atomic():
        row, is_new = LeakIndex.objects.get_or_create(
            task_set=task_set,
            defaults={
                "salt": made.salt,
                "quotes": made.quotes,
                "values": made.values,
                "codes": made.codes,
                "tasks": made.tasks,
                "made_at": clock.now(),
            },
        )
        if is_new:
            digest = hashlib.sha256(made.salt + made.quotes + made.values + made.codes).hexdigest()
            event = events.LeakIndexMade(
                subject=task_set.id, label=task_set.label, tasks=made.tasks, sha256=digest
            )
            log.append(event, by=by)
    return row


def make_indexes(*, by: Actor) -> None:
    """Make what is missing. A version whose packs are not to be had now is tried again at the next tick."""
    for task_set in queries.unindexed():
        try:
            make_index(task_set, by=by)
        except (ObjectMissing, SealBroken):
            logger.warning("fingerprints not made", task_set=task_set.label)


def regrade_result(
    submission: Submission, *, cause: str, by: Actor, approved_by: Actor, reference: str = ""
) -> Regrading:
    """Order that the result is graded again: `cause` is `ruling` or `defect`, `reference` the appeal or the problem.

    It is carried out where artefacts can be opened, by `manage.py regrade_ordered`. Raises DutyRefused, and Refused:
    regrade_not_due, regrade_under_way.
    """
    return correcting.order(submission, cause=cause, by=by, approved_by=approved_by, reference=reference)


def carry_out_regradings(*, grade: correcting.Grade, grader: str, by: Actor) -> int:
    """Carry out all that is ordered, and say in the change log that results were graded again; returns how many.

    For a settled defect a task is graded by the rules of the version that has it mended; all else by its own.
    """
    count = 0
    for order in correcting.ordered():
        task_set = order.submission.task_set
        fixes = mended_revisions(task_set) if order.cause == Cause.DEFECT else {}
        correcting.carry_out(order, grade=grade, grader=grader, fixes=fixes, announce=_announce, by=by)
        count += 1
    return count


def _announce(correction: Correction, by: Actor) -> None:
    task_set = correction.submission.task_set
    add_line("regrade", task_set, facts={"cause": correction.cause}, by=by)
