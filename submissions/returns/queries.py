"""Reads about returns of uses, for staff."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from submissions.returns.models import UseReturn

SHOWN = 200


def returns_for_staff() -> list[UseReturn]:
    """Proposals that wait first, then the others, newest first."""
    return sorted(_rows().order_by("-proposed_at")[:SHOWN], key=lambda row: row.state != "proposed")


def use_return(which: UUID) -> UseReturn | None:
    return _rows().filter(pk=which).first()


def _rows() -> QuerySet[UseReturn]:
    return UseReturn.objects.select_related(
        "slot__submission__harness_version__harness",
        "slot__submission__organisation",
        "proposed_by",
        "approved_by",
        "withdrawn_by",
    )
