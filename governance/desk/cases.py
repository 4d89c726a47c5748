"""Cases: opened by alarms, moved by reviewers' decisions or by their deadlines. One transaction each, with its event.

Nothing here bans anybody. A decision that touches a vendor goes through the service that owns it: holds, links,
rotation.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Duty
from accounts.linking.services import raise_case
from accounts.models import Lineage, User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from benchmark.models import TaskRevision
from config import clock
from governance.desk import casework, events, evidence, queries, services
from governance.desk.casework import FIRST, Act, Happening, Standing
from governance.desk.models import Case, CaseAlarm, CaseQuestion, CaseStep, Hold
from governance.desk.policies import OPEN
from governance.desk.rules import QUESTIONS
from governance.rotation import queries as rotating
from governance.rotation import services as rotation
from governance.watch.models import Alarm
from submissions.models import Submission
from submissions.problems import Code, refuse
from submissions.services.moves import locked
from submissions.services.telling import facts_of, recipients

ACCUSING = (Alarm.Kind.HOLD, Alarm.Kind.REVIEW)
"""Kinds of alarms that open a case; signals are for the dashboard."""
MOVING = ("state", "state_since", "due_at", "outcome", "taken_by")


def group_alarms(*, by: Actor) -> int:
    """Put each alarm that is in no case into the open case of its lineage and version; how many there were."""
    rows = Alarm.objects.filter(kind__in=ACCUSING, in_case=None).select_related("organisation")
    alarms = list(rows.order_by("raised_at", "id"))
    for alarm in alarms:
        _join(alarm, by=by)
    return len(alarms)


def _join(alarm: Alarm, *, by: Actor) -> None:
    with transaction.atomic():
        lineage = alarm.organisation.lineage
        queries.hold_group(alarm.task_set_id, lineage.pk)
        if CaseAlarm.objects.filter(alarm=alarm).exists():
            return
        rows = Case.objects.select_for_update().filter(task_set=alarm.task_set_id, lineage=lineage)
        case = rows.exclude(state=Case.State.CLOSED).first() or _open(alarm, lineage, by=by)
        CaseAlarm.objects.create(alarm=alarm, case=case, joined_at=clock.now())
        log.append(events.CaseAlarmJoined(subject=case.id, alarm=str(alarm.id)), by=by)
        _move(case, Happening.ALARM, by=by)


def _open(alarm: Alarm, lineage: Lineage, *, by: Actor) -> Case:
    now = clock.now()
    begun = casework.begin(now)
    case = Case.objects.create(
        task_set_id=alarm.task_set_id,
        lineage=lineage,
        state=FIRST,
        state_since=now,
        due_at=begun.due,
        opened_at=now,
    )
    event = events.CaseOpened(
        subject=case.id, task_set=alarm.task_set.label, lineage=str(lineage.pk), due_at=_instant(begun)
    )
    log.append(event, by=by)
    return case


def decide(case_id: UUID, act: Act, *, reason: str, by: Actor) -> Case:
    """A decision that concerns the case alone: take, watch, settle. Raises Refused: case_over; DutyRefused."""
    if act not in (Act.TAKE, Act.WATCH, Act.SETTLE):
        raise ValueError(f"{act!r} needs more than a reason")
    with transaction.atomic():
        return _decided(_case(case_id), act, reason=reason, by=by)


def call_false_alarm(case_id: UUID, *, reason: str, by: Actor) -> Case:
    """Close the case as a false alarm: its alarms count as honest from now on, and holds that last are lifted.

    Raises as `decide`, and as `services.lift_hold`.
    """
    with transaction.atomic():
        case = _decided(_case(case_id), Act.FALSE_ALARM, reason=reason, by=by)
        rows = Hold.objects.filter(submission__alarms__in_case__case=case, state__in=OPEN)
        for hold in rows.select_related("submission__organisation").distinct():
            services.lift_hold(hold.submission, reason=reason, by=by)
    return case


def hold_next(case_id: UUID, submission: Submission, *, reason: str, by: Actor) -> Case:
    """Have a submission of the lineage that is under way held once it would be released.

    Raises as `decide`, and as `services.order_hold`.
    """
    with transaction.atomic():
        case = _case(case_id)
        _require_own(case, submission)
        services.order_hold(submission, reason=reason, by=by)
        return _decided(case, Act.HOLD, reason=reason, by=by)


def ask(case_id: UUID, submission: Submission, question: str, *, reason: str, by: Actor) -> Case:
    """Ask the vendor one of `rules.QUESTIONS` about one of its submissions. Raises as `decide`."""
    if question not in QUESTIONS:
        raise ValueError(f"{question!r} is no question")
    with transaction.atomic():
        case = _case(case_id)
        _require_own(case, submission)
        case = _decided(case, Act.ASK, reason=reason, by=by)
        row = CaseQuestion.objects.create(
            case=case,
            submission=submission,
            question=question,
            asked_at=clock.now(),
            due_at=_due(case),
        )
        event = events.CaseQuestionAsked(
            subject=row.id, case=str(case.id), submission=str(submission.id), question=question
        )
        log.append(event, by=by)
        _tell(row)
    return case


def answer(row: CaseQuestion, text: str, *, by: Actor) -> None:
    """The vendor's answer, once and in words, while the question waits. Raises Refused: question_over, no_words."""
    if not text.strip():
        raise refuse(Code.QUESTION_NO_WORDS)
    now = clock.now()
    with transaction.atomic():
        waiting = CaseQuestion.objects.filter(pk=row.pk, answered_at=None, due_at__gt=now)
        if not waiting.update(answer=text.strip(), answered_at=now):
            raise refuse(Code.QUESTION_OVER)
        event = events.CaseQuestionAnswered(subject=row.pk, answer=concealed(text.strip()), at=timestamp(now))
        log.append(event, by=by)


def link(case_id: UUID, other: Lineage, *, reason: str, by: Actor) -> Case:
    """Hand the case's lineage and another to those who review links; they alone join anything. Raises as `decide`."""
    with transaction.atomic():
        case = _case(case_id)
        if other.pk == case.lineage_id:
            raise refuse(Code.CASE_NOT_THEIRS)
        case = _decided(case, Act.LINK, reason=reason, by=by)
        raise_case(case.lineage_id, other.pk, [("review", str(case.id))], by=by)
    return case


def rotate(case_id: UUID, *, reason: str, by: Actor) -> Case:
    """Put the tasks that the alarms rest on into the rotation queue, where two governors decide about each.

    Those that wait there already stay as they are. Raises as `decide`.
    """
    with transaction.atomic():
        case = _decided(_case(case_id), Act.ROTATE, reason=reason, by=by)
        named = {task for alarm in queries.alarms_of(case) for task in evidence.tasks_of(alarm)}
        waiting = rotating.waiting_tasks(case.task_set)
        for task in TaskRevision.objects.filter(pk__in=named - waiting, version=case.task_set).order_by(
            "slug"
        ):
            rotation.propose(case.task_set, task, cause="hand", reason=reason, by=by)
    return case


def advance(case_id: UUID, *, by: Actor) -> bool:
    """Make the move that is due without anybody's decision: an answer is there, or the deadline has passed."""
    with transaction.atomic():
        case = Case.objects.select_for_update().get(pk=case_id)
        if case.state == Case.State.ASKED and not case.questions.filter(answered_at=None).exists():
            return _move(case, Happening.ANSWERED, by=by)
        if casework.is_late(_standing(case), clock.now()):
            return _move(case, Happening.LATE, by=by)
    return False


def sweep(*, by: Actor) -> None:
    """Group new alarms, and advance every open case."""
    group_alarms(by=by)
    for case_id in Case.objects.exclude(state=Case.State.CLOSED).values_list("id", flat=True):
        advance(case_id, by=by)


def _case(case_id: UUID) -> Case:
    """The case under a lock until the transaction ends."""
    return Case.objects.select_for_update().get(pk=case_id)


def _standing(case: Case) -> Standing:
    return Standing(case.state, case.state_since, case.due_at, case.outcome)


def _decided(case: Case, act: Act, *, reason: str, by: Actor) -> Case:
    """The decision written down with its reason, and the case moved by it."""
    standing = duties.standing(by)
    entitled = Duty.ARBITER if is_operators(case) and act is not Act.TAKE else Duty.HELD_OUT_GOVERNOR
    if entitled not in standing.duties:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if case.lineage_id in standing.lineages:
        raise DutyRefused(Reason.OWN_CASE)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)
    if (case.state, act) not in casework.MOVES:
        raise refuse(Code.CASE_OVER)
    person = User.objects.get(pseudonym=by.id)
    if case.state == Case.State.ESCALATED and case.taken_by_id == person.pseudonym:
        raise DutyRefused(Reason.ONE_PERSON)
    step = CaseStep.objects.create(case=case, act=act, reason=reason.strip(), by=person, at=clock.now())
    case.taken_by = person
    _move(case, act, by=by, step=step)
    return case


def is_operators(case: Case) -> bool:
    """Whether an organisation of the lineage is the operator's: then somebody from outside decides."""
    return bool(case.lineage.organisations.filter(is_operator=True).exists())


def _move(case: Case, what: str, *, by: Actor, step: CaseStep | None = None) -> bool:
    """By the table; whether there was anything to write down."""
    before, now = case.state, clock.now()
    after = casework.step(_standing(case), what, now)
    if after is None:
        return False
    case.state, case.state_since, case.due_at, case.outcome = (
        after.state,
        after.since,
        after.due,
        after.outcome,
    )
    case.save(update_fields=MOVING)
    event = events.CaseMoved(
        subject=case.id,
        before=before,
        after=after.state,
        what=what,
        at=timestamp(now),
        due_at=_instant(after),
        closed_as=after.outcome or None,
        decided_by=str(case.taken_by_id) if step else None,
        step=str(step.id) if step else None,
        reason=concealed(step.reason) if step else None,
    )
    log.append(event, by=by)
    return True


def _due(case: Case) -> datetime:
    if case.due_at is None:
        raise ValueError(f"the case {case.pk} is closed")
    return case.due_at


def _instant(standing: Standing) -> str | None:
    return timestamp(standing.due) if standing.due else None


def _require_own(case: Case, submission: Submission) -> None:
    """The submission is of the case's lineage and version. Raises Refused: case_not_theirs."""
    if submission.task_set_id != case.task_set_id or submission.organisation.lineage_id != case.lineage_id:
        raise refuse(Code.CASE_NOT_THEIRS)


def _tell(row: CaseQuestion) -> None:
    submission = locked(row.submission_id)
    notify(
        recipients(submission),
        Kind.SUBMISSION_QUESTION,
        subject=row.id,
        facts=facts_of(submission) | {"question": str(row.id), "deadline": row.due_at.isoformat()},
        organisation=submission.organisation,
    )
