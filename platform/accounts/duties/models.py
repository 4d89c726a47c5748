"""Who holds which duty from when to when, and the ceremony that named the first two. People stand by pseudonym."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from accounts.duties.policies import LONGEST, Span
from accounts.duties.table import ASSIGNED, DUTIES, Duty
from config.ids import new_id


def person_column(related_name: str = "+", **options: Any) -> models.ForeignKey[Any, Any]:
    """A column of pseudonyms, so that the auditor's role compares it with events and is shown no person."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        to_field="pseudonym",
        on_delete=models.PROTECT,
        related_name=related_name,
        **options,
    )


class Proposal(models.Model):
    """What one person proposes, and another approves or somebody withdraws. `Meta.constraints` take `two_people` in."""

    reason = models.TextField()
    proposed_by = person_column(db_column="proposed_by")
    proposed_at = models.DateTimeField()
    approved_by = person_column(db_column="approved_by", null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = person_column(db_column="withdrawn_by", null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def state(self) -> str:
        if self.withdrawn_at is not None:
            return "withdrawn"
        return "proposed" if self.approved_at is None else "approved"


def two_people(name: str) -> list[models.BaseConstraint]:
    """The constraints of a `Proposal`, each under a name that begins with `name`."""
    return [
        models.CheckConstraint(
            condition=Q(approved_by=None, approved_at=None)
            | Q(approved_by__isnull=False, approved_at__isnull=False),
            name=f"{name}_approved_by_somebody",
        ),
        models.CheckConstraint(
            condition=Q(withdrawn_by=None, withdrawn_at=None)
            | Q(withdrawn_by__isnull=False, withdrawn_at__isnull=False),
            name=f"{name}_withdrawn_by_somebody",
        ),
        models.CheckConstraint(
            condition=Q(approved_at=None) | Q(withdrawn_at=None), name=f"{name}_ends_one_way"
        ),
        models.CheckConstraint(
            condition=Q(approved_by=None) | ~Q(approved_by=F("proposed_by")), name=f"{name}_two_people"
        ),
    ]


class DutyCeremony(models.Model):
    """The one row that says that duties have begun, and by whom; the database refuses a second."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    first = person_column(db_column="first")
    second = person_column(db_column="second")
    held_at = models.DateTimeField()
    transaction = models.BigIntegerField(editable=False, default=0)
    """Filled by the database: within it, and nowhere else, the two confirm each other."""

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="duties_begun"),
            models.CheckConstraint(condition=~Q(first=F("second")), name="duties_begun_by_two"),
        ]


class DutyAssignment(models.Model):
    """One duty of one person: proposed by somebody, held once another has confirmed it, over when it ends."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = person_column("duties", db_column="person")
    duty = models.CharField(max_length=32, choices=[(duty.value, DUTIES[duty].name) for duty in ASSIGNED])
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    assigned_by = person_column(db_column="assigned_by")
    assigned_at = models.DateTimeField()
    reason = models.TextField()
    confirmed_by = person_column(db_column="confirmed_by", null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    confirm_reason = models.TextField(blank=True, default="")
    review_due_at = models.DateTimeField(null=True, blank=True)
    reviewed_by = person_column(db_column="reviewed_by", null=True, blank=True)
    reviewed_at = models.DateTimeField(null=True, blank=True)
    review_reason = models.TextField(blank=True, default="")
    ended_by = person_column(db_column="ended_by", null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(duty__in=[duty.value for duty in ASSIGNED]), name="duty_by_term"
            ),
            models.CheckConstraint(condition=Q(ends_at__gt=F("begins_at")), name="duty_dates"),
            models.CheckConstraint(condition=Q(ends_at__lte=F("begins_at") + LONGEST), name="duty_too_long"),
            models.CheckConstraint(
                condition=Q(confirmed_by=None, confirmed_at=None, review_due_at=None)
                | Q(confirmed_by__isnull=False, confirmed_at__isnull=False, review_due_at__isnull=False),
                name="duty_confirmed_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(confirmed_by=None) | ~Q(confirmed_by=F("assigned_by")),
                name="duty_two_people",
            ),
            models.CheckConstraint(
                condition=(Q(confirmed_by=None) | ~Q(confirmed_by=F("person")))
                & (Q(reviewed_by=None) | ~Q(reviewed_by=F("person"))),
                name="duty_own",
            ),
            models.CheckConstraint(
                condition=Q(ended_by=None, ended_at=None) | Q(ended_by__isnull=False, ended_at__isnull=False),
                name="duty_ended_by_somebody",
            ),
        ]

    @property
    def kind(self) -> Duty:
        return Duty(self.duty)

    @property
    def over_at(self) -> datetime:
        """When it is or was over."""
        return self.ends_at if self.ended_at is None else min(self.ends_at, self.ended_at)

    @property
    def span(self) -> Span:
        return Span(self.kind, self.begins_at, self.over_at)
