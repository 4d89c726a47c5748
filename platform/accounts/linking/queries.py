"""Reads about linked accounts."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q

from accounts.linking.models import LinkCase
from accounts.models import Organisation

UNDER_WAY = (LinkCase.State.OPEN, LinkCase.State.PROPOSED)
JOINED = (LinkCase.State.LINKED, LinkCase.State.PARTING)
"""States in which the two share one allowance."""
WAITING = (*UNDER_WAY, LinkCase.State.PARTING)


def lineage_now(lineage: UUID) -> UUID:
    """The lineage that this one has been absorbed into, itself where it was not."""
    while (
        into := LinkCase.objects.filter(absorbed=lineage, state__in=JOINED)
        .values_list("into", flat=True)
        .first()
    ) is not None:
        lineage = into
    return lineage


def lineages_now(case: LinkCase) -> set[UUID]:
    """The one or two lineages that a case is about today."""
    return {lineage_now(case.first_id), lineage_now(case.second_id)}


def cases() -> list[LinkCase]:
    """What waits for two people, oldest first, then what was decided, latest first."""
    rows = LinkCase.objects.all()
    waiting = list(rows.filter(state__in=WAITING).order_by("opened_at"))
    return [*waiting, *rows.exclude(state__in=WAITING).order_by("-decided_at")[:100]]


def case(which: UUID) -> LinkCase | None:
    return (
        LinkCase.objects.select_related("proposed_by", "decided_by", "parting_by", "parted_by")
        .filter(pk=which)
        .first()
    )


def parties(found: LinkCase) -> list[list[Organisation]]:
    """The organisations on either side; once linked, one side holds them all."""
    sides = sorted({lineage_now(found.first_id), lineage_now(found.second_id)})
    return [list(Organisation.objects.filter(lineage=side).order_by("created_at")) for side in sides]


def built_on(found: LinkCase) -> LinkCase | None:
    """A later link that holds and that undoing this one would tear: it moved the same, or joins a part of them."""
    if found.absorbed_id is None:
        return None
    joined = list(LinkCase.objects.filter(state__in=JOINED).exclude(pk=found.pk).order_by("decided_at"))
    side = {found.absorbed_id}
    for other in joined:
        if other.into_id in side and other.absorbed_id is not None:
            side.add(other.absorbed_id)
    for other in joined:
        later = found.decided_at and other.decided_at and other.decided_at > found.decided_at
        crosses = len({other.first_id, other.second_id} & side) == 1
        if later and (crosses or set(other.moved) & set(found.moved)):
            return other
    return None


def is_under_verification(organisation: Organisation) -> bool:
    """Whether a case about it is under way; the organisation is told this much and no more."""
    lineage = organisation.lineage_id
    return LinkCase.objects.filter(Q(first=lineage) | Q(second=lineage), state__in=UNDER_WAY).exists()
