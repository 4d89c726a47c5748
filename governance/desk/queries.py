"""Reads about holds: for the release tick and for staff; what vendors are told of them is in `statements`."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet

from governance.desk.models import Hold, HoldDecision, HoldOrder
from governance.desk.policies import LET_GO, OPEN
from submissions.models import Submission

SHOWN = 200


def hold_of(submission: Submission) -> Hold | None:
    """The hold of a submission, over or not; there is one at most. For staff and for rulings."""
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
