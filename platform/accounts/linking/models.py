"""Cases of two lineages that may belong together, and the coarse marks of networks that organisations submit from."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from config.ids import new_id


def _person(column: str) -> models.ForeignKey[Any, Any]:
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        to_field="pseudonym",
        on_delete=models.PROTECT,
        related_name="+",
        db_column=column,
        null=True,
        blank=True,
    )


def _lineage(**options: Any) -> models.ForeignKey[Any, Any]:
    return models.ForeignKey("accounts.Lineage", on_delete=models.PROTECT, related_name="+", **options)


class NetworkMark(models.Model):
    """On that day the organisation submitted from a network with this mark (`accounts.registration.marks`)."""

    organisation = models.ForeignKey("accounts.Organisation", on_delete=models.CASCADE, related_name="+")
    mark = models.CharField(max_length=64)
    day = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["mark", "organisation", "day"], name="network_mark_once_a_day"),
        ]


class LinkCase(models.Model):
    """Two lineages and the signals that speak for one owner; one person proposes, another decides.

    A link that proves false is undone in the same way: the organisations that moved go back, with their uses.
    """

    class State(models.TextChoices):
        OPEN = "open", _("to be reviewed")
        PROPOSED = "proposed", _("to be confirmed")
        LINKED = "linked", _("linked")
        CLEARED = "cleared", _("cleared")
        PARTING = "parting", _("linked, to be parted")
        PARTED = "parted", _("parted again")

    class Verdict(models.TextChoices):
        LINK = "link", _("they belong together")
        CLEAR = "clear", _("they do not belong together")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    first = _lineage(db_column="first")
    second = _lineage(db_column="second")
    """The greater id of the two, so that a pair has one form."""
    signals = models.JSONField()
    """Pairs of kind and mark, sorted."""
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    opened_at = models.DateTimeField()
    verdict = models.CharField(max_length=8, choices=Verdict.choices, blank=True, default="")
    reason = models.TextField(blank=True, default="")
    """Of who proposed; for staff only."""
    proposed_by = _person("proposed_by")
    proposed_at = models.DateTimeField(null=True, blank=True)
    decided_by = _person("decided_by")
    decided_at = models.DateTimeField(null=True, blank=True)
    absorbed = _lineage(db_column="absorbed", null=True, blank=True)
    """The lineage whose organisations moved …"""
    into = _lineage(db_column="into", null=True, blank=True)
    """… and the one that they joined."""
    moved = models.JSONField(default=list, blank=True)
    """Ids of those organisations, as texts."""
    parting_reason = models.TextField(blank=True, default="")
    """Why the link is to be undone; for staff only."""
    parting_by = _person("parting_by")
    parting_at = models.DateTimeField(null=True, blank=True)
    parted_by = _person("parted_by")
    parted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="link_case_of_two"),
            models.UniqueConstraint(
                fields=["first", "second"],
                condition=Q(state__in=("open", "proposed")),
                name="link_case_once",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(decided_by=F("proposed_by")), name="link_two_people"
            ),
            models.CheckConstraint(
                condition=Q(state="open", verdict="", proposed_by=None, decided_by=None)
                | Q(state="proposed", proposed_by__isnull=False, decided_by=None)
                | Q(
                    state__in=("linked", "parting", "parted"),
                    verdict="link",
                    proposed_by__isnull=False,
                    decided_by__isnull=False,
                )
                | Q(state="cleared", verdict="clear", proposed_by__isnull=False, decided_by__isnull=False),
                name="link_state_by_two",
            ),
            models.CheckConstraint(
                condition=Q(state="parted", parting_by__isnull=False, parted_by__isnull=False)
                | Q(state="parting", parting_by__isnull=False, parted_by=None)
                | Q(~Q(state__in=("parting", "parted")), parting_by=None, parted_by=None),
                name="link_parted_by_two",
            ),
            models.CheckConstraint(
                condition=Q(parted_by=None) | ~Q(parted_by=F("parting_by")), name="link_parting_two_people"
            ),
        ]
