"""Holds with their clock and the decisions of two people about them; cases with alarms, decisions and questions."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.duties.models import Proposal, person_column, two_people
from accounts.models import Lineage
from benchmark.models import TaskSetVersion
from config.ids import new_id
from governance.desk.casework import Act, Outcome
from governance.desk.policies import OPEN, Why
from governance.desk.rules import GROUNDS, ORDERED, QUESTIONS, RULES
from governance.watch.models import Alarm
from submissions.models import Submission

ENDS = ("lifted", "released", "voided")


class HoldOrder(models.Model):
    """A governor's order to hold a submission that is under way once its result would be released."""

    submission = models.OneToOneField(
        Submission, primary_key=True, on_delete=models.PROTECT, related_name="hold_order"
    )
    ordered_by = person_column(db_column="ordered_by")
    reason = models.TextField()
    ordered_at = models.DateTimeField()


class Hold(models.Model):
    """A result kept back for review. `state` moves by the table in `policies`; there is one hold of a submission."""

    class State(models.TextChoices):
        ACTIVE = "active", pgettext_lazy("hold", "active")
        EXTENDED = "extended", pgettext_lazy("hold", "extended once")
        LIFTED = "lifted", pgettext_lazy("hold", "lifted as a false alarm")
        RELEASED = "released", pgettext_lazy("hold", "over, released")
        VOIDED = "voided", pgettext_lazy("hold", "voided")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.OneToOneField(Submission, on_delete=models.PROTECT, related_name="hold")
    rule = models.CharField(max_length=16)
    """One of `rules.RULES`."""
    state = models.CharField(max_length=8, choices=State.choices, default=State.ACTIVE)
    state_since = models.DateTimeField()
    placed_at = models.DateTimeField()
    placed_by = person_column(db_column="placed_by", null=True, blank=True)
    """Who ordered it; null where an alarm did."""
    due_at = models.DateTimeField()
    extended_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = person_column(db_column="ended_by", null=True, blank=True)
    """Null where the deadline ended it, two people did, or a ruling."""
    why = models.CharField(max_length=12, choices=[(why.value, why.value) for why in Why], blank=True)
    ground = models.CharField(max_length=12, blank=True)
    """Of a void, for the vendor: one of `rules.GROUNDS`, or empty where a ruling says it."""
    ruling = models.UUIDField(null=True, blank=True)
    """The appeal whose ruling ended it."""

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(rule__in=sorted(RULES)), name="hold_rule_known"),
            models.CheckConstraint(
                condition=Q(state__in=sorted(OPEN), ended_at=None, why="")
                | Q(state="lifted", ended_at__isnull=False, why__in=("false_alarm", "ruling"))
                | Q(state="released", ended_at__isnull=False, why__in=("deadline", "reviewed"))
                | Q(state="voided", ended_at__isnull=False, why__in=("two_people", "ruling")),
                name="hold_end_says_why",
            ),
            models.CheckConstraint(
                condition=(Q(why="ruling") & Q(ruling__isnull=False)) | (~Q(why="ruling") & Q(ruling=None)),
                name="hold_ruling_named",
            ),
            models.CheckConstraint(
                condition=Q(placed_by=None, rule__in=sorted(set(RULES) - {ORDERED}))
                | Q(placed_by__isnull=False, rule=ORDERED),
                name="hold_by_alarm_or_person",
            ),
            # Lifting returns a use of the quota: nobody grants one alone by holding and lifting.
            models.CheckConstraint(
                condition=Q(placed_by=None) | ~Q(state="lifted", placed_by=F("ended_by")),
                name="hold_lifted_by_another",
            ),
            models.CheckConstraint(condition=Q(due_at__gt=F("placed_at")), name="hold_has_a_deadline"),
            models.CheckConstraint(
                condition=Q(extended_until=None) | Q(extended_until__gt=F("due_at")), name="hold_extended_on"
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="hold_open", condition=Q(ended_at=None))]

    @property
    def until(self) -> datetime:
        """When it ends by itself."""
        return self.extended_until or self.due_at


class HoldDecision(Proposal):
    """Proposed by one governor, then approved by another or withdrawn; the approval carries it out.

    The reason is for the record and for an appeal; nobody but reviewers reads it.
    """

    class Kind(models.TextChoices):
        EXTEND = "extend", _("extend the hold once")
        VOID = "void", _("void what is held")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    ground = models.CharField(max_length=12, blank=True)

    class Meta:
        constraints = [
            *two_people("hold_decision"),
            models.CheckConstraint(
                condition=Q(kind="extend", ground="") | Q(kind="void", ground__in=sorted(GROUNDS)),
                name="hold_decision_ground",
            ),
            models.UniqueConstraint(
                fields=["submission", "kind"],
                condition=Q(withdrawn_at=None),
                name="hold_decision_one_of_a_kind",
            ),
        ]


class Case(models.Model):
    """What stands against one lineage on one version: its alarms, and what reviewers decided about them.

    `state` moves by the table in `casework`. There is one open case of a lineage and version; later alarms join it.
    """

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("case", "new")
        REVIEWING = "reviewing", pgettext_lazy("case", "under review")
        ASKED = "asked", pgettext_lazy("case", "vendor asked")
        WATCHING = "watching", pgettext_lazy("case", "watched")
        ESCALATED = "escalated", pgettext_lazy("case", "escalated")
        CLOSED = "closed", pgettext_lazy("case", "closed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    lineage = models.ForeignKey(Lineage, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)
    state_since = models.DateTimeField()
    due_at = models.DateTimeField(null=True, blank=True)
    taken_by = person_column(db_column="taken_by", null=True, blank=True)
    """The governor who decided last."""
    opened_at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=[(one.value, one.value) for one in Outcome], blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(state="closed", due_at=None) & ~Q(outcome=""))
                | (
                    Q(state__in=("open", "reviewing", "asked", "watching", "escalated"))
                    & Q(due_at__isnull=False, outcome="")
                ),
                name="case_has_deadline_or_outcome",
            ),
            models.UniqueConstraint(
                fields=["task_set", "lineage"], condition=~Q(state="closed"), name="case_one_open"
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="case_due", condition=~Q(state="closed"))]


class CaseAlarm(models.Model):
    """An alarm in its case."""

    alarm = models.OneToOneField(Alarm, primary_key=True, on_delete=models.PROTECT, related_name="in_case")
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="alarms")
    joined_at = models.DateTimeField()


class CaseStep(models.Model):
    """One decision in a case, with its reason. Never changed; nobody but reviewers reads it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="steps")
    act = models.CharField(max_length=12, choices=[(act.value, act.value) for act in Act])
    reason = models.TextField()
    by = person_column(db_column="by")
    at = models.DateTimeField()


class CaseQuestion(models.Model):
    """A question to a vendor from a closed list. Its answer goes to the case; who serves vendors cannot read it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="questions")
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="+")
    question = models.CharField(max_length=16)
    """One of `rules.QUESTIONS`."""
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField()
    answer = models.TextField(blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(question__in=sorted(QUESTIONS)), name="question_known"),
            models.CheckConstraint(
                condition=Q(answered_at=None, answer="") | (Q(answered_at__isnull=False) & ~Q(answer="")),
                name="question_answered_in_words",
            ),
        ]
