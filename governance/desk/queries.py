"""Reads about holds and cases: for the release tick and for staff; what vendors are told is in `telling`."""

from __future__ import annotations

from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from accounts.linking.models import LinkCase
from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from governance.desk.casework import Outcome
from governance.desk.models import Case, CaseQuestion, CaseStep, Hold, HoldDecision, HoldOrder
from governance.desk.policies import LET_GO, OPEN
from governance.watch.models import Alarm
from governance.watch.queries import ACCUSING
from submissions.models import Submission

SHOWN = 200


def hold_of(submission: Submission) -> Hold | None:
    """The hold of a submission, over or not; there is one at most. For staff and for rulings."""
    return hold_by_id(submission.pk)


def hold_by_id(submission: UUID) -> Hold | None:
    """The same by the submission's id."""
    return _rows().filter(submission=submission).first()


def not_released() -> list[Hold]:
    """Holds that last, and those whose end has not led to the release yet; oldest first."""
    rows = Hold.objects.filter(Q(state__in=OPEN) | Q(state__in=LET_GO, submission__state="held"))
    return list(rows.select_related("submission").order_by("due_at"))


def holds_for_staff() -> list[Hold]:
    """Those that last, the next deadline first, then those that are over, the latest first."""
    lasting = list(_rows().filter(ended_at=None).order_by("due_at"))
    return [*lasting, *_rows().filter(ended_at__isnull=False).order_by("-ended_at")[:SHOWN]]


def orders_for_staff() -> list[HoldOrder]:
    """Orders that no hold has come of yet, of submissions that are under way."""
    rows = HoldOrder.objects.filter(submission__hold=None, submission__ended_at=None)
    related = ("submission__organisation", "submission__harness_version__harness", "ordered_by")
    return list(rows.select_related(*related).order_by("ordered_at"))


def decisions_of(submission: Submission) -> list[HoldDecision]:
    rows = HoldDecision.objects.filter(submission=submission).order_by("proposed_at")
    return list(rows.select_related("proposed_by", "approved_by", "withdrawn_by"))


def decision(which: UUID) -> HoldDecision | None:
    rows = HoldDecision.objects.select_related("submission__organisation", "proposed_by")
    return rows.filter(pk=which).first()


def _rows() -> QuerySet[Hold]:
    return Hold.objects.select_related(
        "submission__organisation", "submission__harness_version__harness", "placed_by", "ended_by"
    )


def hold_group(task_set_id: UUID, lineage_id: UUID) -> None:
    """Whoever puts alarms of the lineage into a case waits here, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"case {task_set_id} {lineage_id}"]
        )


def cases_for_staff() -> list[Case]:
    """Open ones, the next deadline first, then closed ones, the latest first."""
    rows = Case.objects.select_related("task_set", "taken_by")
    lasting = list(rows.exclude(state=Case.State.CLOSED).order_by("due_at"))
    return [*lasting, *rows.filter(state=Case.State.CLOSED).order_by("-state_since")[:SHOWN]]


def case(which: UUID) -> Case | None:
    return Case.objects.select_related("task_set", "lineage", "taken_by").filter(pk=which).first()


def parties(found: Case) -> list[Organisation]:
    """The organisations of the case's lineage, by name."""
    return list(Organisation.objects.filter(lineage=found.lineage_id).order_by("name"))


def alarms_of(found: Case) -> list[Alarm]:
    """Oldest first, with harness and submission at hand."""
    rows = Alarm.objects.filter(in_case__case=found).order_by("raised_at", "id")
    return list(rows.select_related("harness", "organisation", "submission__harness_version__harness"))


def links_of(found: Case) -> list[LinkCase]:
    """Reviews of links in which the lineage is a party, the latest first."""
    rows = LinkCase.objects.filter(Q(first=found.lineage_id) | Q(second=found.lineage_id))
    return list(rows.order_by("-opened_at"))


def steps_of(found: Case) -> list[CaseStep]:
    return list(CaseStep.objects.filter(case=found).select_related("by").order_by("at"))


def questions_of(found: Case) -> list[CaseQuestion]:
    rows = CaseQuestion.objects.filter(case=found).order_by("asked_at")
    return list(rows.select_related("submission__harness_version__harness"))


def submissions_of(found: Case) -> list[Submission]:
    """Every submission of the lineage on the version, the latest first."""
    rows = Submission.objects.filter(organisation__lineage=found.lineage_id, task_set=found.task_set_id)
    return list(rows.select_related("harness_version__harness", "organisation").order_by("-id"))


def false_alarms() -> QuerySet[Alarm]:
    """Alarms of cases that reviewers closed as false: lineages that calibration counts as honest."""
    return Alarm.objects.filter(in_case__case__outcome=Outcome.FALSE_ALARM)


def doubted(task_set: TaskSetVersion) -> set[str]:
    """Ids of lineages, as text, that an alarm accuses which no reviewer has closed as false: no pattern of honesty."""
    rows = Alarm.objects.filter(task_set=task_set, kind__in=ACCUSING).exclude(pk__in=false_alarms())
    return {str(one) for one in rows.values_list("organisation__lineage_id", flat=True)}


def holds_of(found: Case) -> list[Hold]:
    """Holds of the lineage's submissions on the version, the latest first."""
    rows = _rows().filter(
        submission__organisation__lineage=found.lineage_id, submission__task_set=found.task_set_id
    )
    return list(rows.order_by("-placed_at"))
