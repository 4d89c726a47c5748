"""Looking at finished submissions: each once, in one order a version, and what is found written down with events."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import Max

from accounts.linking.services import raise_case
from audit import log
from audit.events import Actor
from audit.texts import concealed
from config import clock
from config.ids import new_id
from evaluation.models import EvaluationRun
from governance import aggregates
from governance.detection.behaviour import Rows
from governance.services import is_due
from governance.watch import events, evidence, looking, state, storing
from governance.watch.banks import bank_of, rows_of
from governance.watch.levels import in_force_or_shipped
from governance.watch.looking import Looked, Raised
from governance.watch.models import (
    Alarm,
    AlarmEvidence,
    Behaviour,
    Examination,
    GapFigure,
    TaskMarks,
)
from governance.watch.state import State
from submissions.models import Submission

logger = structlog.get_logger(__name__)
GIVEN_UP_AFTER = timedelta(hours=24)
"""How long a submission waits for an analysis that fails. Then it is released without, and analysed later."""
DIGITS = 6
SIGNALS = {"digest": "package", "template": "template", "artefacts": "artefacts", "tokens": "tokens"}
"""By ground of a link: the kind of signal that the case of linked accounts gets."""


def examined(submission: Submission, *, by: Actor) -> bool:
    """Whether the submission may be released as far as detection goes; analysed now where it is due and was not.

    An analysis that fails holds it back until the next tick, and for at most a day: then the fault is the operator's
    and no longer the vendor's. Each failure is an event and an error in the operator's log.
    """
    if not is_due(submission):
        return False
    try:
        analyse(submission, by=by)
    except Exception as error:  # whatever it is: one submission's fault must not stop the others' tick
        logger.exception("analysis_failed", submission=str(submission.pk))
        return _failed(submission, type(error).__name__, by=by)
    return True


def analyse(submission: Submission, *, by: Actor) -> list[Alarm]:
    """Have the detectors take one finished submission, once; its alarms. Repeats change nothing.

    One at a time for each version: two at once give what one after the other gives. Confirmation runs are no
    question, and preflights have nothing held out: neither is taken here.
    """
    with transaction.atomic():
        hold_version(submission.task_set_id)
        row = Examination.objects.filter(submission=submission).first()
        if row is None or row.sequence is None:
            _take(submission, row, by=by)
        return list(Alarm.objects.filter(submission=submission).order_by("id"))


def hold_version(task_set_id: UUID) -> None:
    """Whoever takes behaviour of the version waits here, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"watch {task_set_id}"])


def behaviour_of(run: EvaluationRun, submission: Submission) -> Rows:
    """What the run did, taken from its results once and kept."""
    bank = bank_of(run.version_id)
    kept = Behaviour.objects.filter(run=run).first()
    if kept is not None:
        return storing.unpacked(kept.columns, len(bank))
    rows = rows_of(bank, aggregates.runs_of(run), run.runs_per_task, submission.preflight_run)
    Behaviour.objects.create(
        run=run,
        submission=submission,
        task_set_id=run.version_id,
        tasks=len(bank),
        columns=storing.packed(rows),
        digest=storing.digest(rows),
        taken_at=clock.now(),
    )
    return rows


def _take(submission: Submission, row: Examination | None, *, by: Actor) -> None:
    run = submission.held_out_run
    if run is None:
        raise ValueError(f"submission {submission.pk} has no held-out run")
    levels = in_force_or_shipped(submission.runs_per_task, by=by)
    now = state.current(submission.task_set_id, levels)
    rows = behaviour_of(run, submission)
    looked = looking.look(now.analysis, state.of(submission, rows))
    last = Examination.objects.filter(task_set=submission.task_set_id).aggregate(last=Max("sequence"))["last"]
    row = row or Examination(submission=submission, task_set_id=submission.task_set_id)
    row.sequence, row.levels, row.analysed_at = (last or 0) + 1, levels, clock.now()
    row.failures, row.failed_since, row.cause = 0, None, ""
    row.save()
    log.append(
        events.SubmissionAnalysed(
            subject=submission.pk,
            task_set=submission.task_set.label,
            sequence=row.sequence,
            levels=str(levels.pk),
            behaviour=concealed(storing.digest(rows)),
        ),
        by=by,
    )
    _note(submission, looked)
    _raise_all(submission, now, looked, by=by)
    _link(looked, by=by)
    now.taken += (submission.pk,)
    now.lineages[submission.pk] = submission.organisation.lineage_id
    transaction.on_commit(partial(state.keep, submission.task_set_id, now))


def _note(submission: Submission, looked: Looked) -> None:
    """What exposure and the gap page read: masks over tasks, and the figures of the gap."""
    TaskMarks.objects.create(
        submission=submission,
        task_set_id=submission.task_set_id,
        memorised=storing.mask_bytes(looked.memorised),
        failed_once=storing.mask_bytes(looked.failed_once),
        answered=storing.mask_bytes(looked.answered),
    )
    if looked.gap is not None:
        earlier = Submission.of_any_scope.filter(
            harness_version__harness=submission.harness_version.harness_id,
            task_set=submission.task_set_id,
            preflight_run__isnull=False,
            admitted_at__lt=submission.admitted_at,
        )
        GapFigure.objects.create(
            submission=submission,
            task_set_id=submission.task_set_id,
            preflights=earlier.count(),
            measured_at=clock.now(),
            **asdict(looked.gap),
        )


def _raise_all(submission: Submission, now: State, looked: Looked, *, by: Actor) -> None:
    """Holds and signals of this submission, and what calibrated levels raised and nobody wrote down yet."""
    gap = asdict(looked.gap) if looked.gap is not None else None
    written = set(
        Alarm.objects.filter(task_set=submission.task_set_id, kind=Alarm.Kind.REVIEW).values_list(
            "harness_id", "channel"
        )
    )
    lines = now.analysis.lines
    found = list(looked.raised()) + [
        Raised(lines[one.account], one.submission, one.channel, "review", one.statistic, one.level)
        for one in looked.reviews
        if (UUID(one.account), one.channel) not in written
    ]
    for raised in found:
        content = evidence.make(
            now.analysis, raised.line, raised.channel, gap if raised.line is looked.line else None
        )
        _write(raised, content, by=by)


def _write(raised: Raised, content: dict[str, object], *, by: Actor) -> None:
    about = Submission.objects.select_related("harness_version", "task_set").get(pk=raised.submission)
    row = Alarm(
        id=new_id(),
        task_set_id=about.task_set_id,
        organisation_id=about.organisation_id,
        harness_id=about.harness_version.harness_id,
        submission=about,
        channel=raised.channel,
        kind=raised.kind,
        statistic=round(raised.statistic, DIGITS),
        level=round(raised.level, DIGITS),
        raised_at=clock.now(),
    )
    row.save(force_insert=True)
    AlarmEvidence.objects.create(alarm=row, content=content)
    log.append(
        events.AlarmRaised(
            subject=row.pk,
            task_set=about.task_set.label,
            submission=str(about.pk),
            harness=str(row.harness_id),
            channel=row.channel,
            level_kind=row.kind,
            statistic=f"{row.statistic:.{DIGITS}f}",
            level=f"{row.level:.{DIGITS}f}",
        ),
        by=by,
    )


def _link(looked: Looked, *, by: Actor) -> None:
    """Candidates for the review of linked accounts: joining is not blaming, and people decide about it."""
    for link in looked.links:
        mark = hashlib.sha256(json.dumps([link.ground, link.one, link.other]).encode()).hexdigest()
        raise_case(UUID(link.one), UUID(link.other), [(SIGNALS[link.ground], mark)], by=by)


def _failed(submission: Submission, cause: str, *, by: Actor) -> bool:
    """Note the failure; whether it has lasted so long that the submission is let through."""
    with transaction.atomic():
        hold_version(submission.task_set_id)
        row = Examination.objects.filter(submission=submission).first()
        if row is None:
            row = Examination(
                submission=submission, task_set_id=submission.task_set_id, failed_since=clock.now()
            )
        row.failed_since = row.failed_since or clock.now()
        row.failures, row.cause = row.failures + 1, cause[:80]
        row.save()
        log.append(
            events.AnalysisFailed(subject=submission.pk, failures=row.failures, cause=row.cause), by=by
        )
        if row.given_up_at is None and clock.now() - row.failed_since >= GIVEN_UP_AFTER:
            row.given_up_at = clock.now()
            row.save()
            log.append(
                events.AnalysisGivenUp(subject=submission.pk, failures=row.failures, cause=row.cause), by=by
            )
    return row.given_up_at is not None


def analyse_lost(submissions: Iterable[Submission], *, by: Actor) -> int:
    """Analyse what was let through without or was released before there were detectors; how many."""
    count = 0
    for submission in submissions:
        analyse(submission, by=by)
        count += 1
    return count
