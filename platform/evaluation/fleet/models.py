"""Orders that stand until somebody lifts them: pauses of the whole platform, and workers, hosts and episodes set apart.

A row is an order; it is kept for good, with who gave it and who lifted it, when and why. Nothing standing means that
everything runs.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from config.ids import new_id


class Switch(models.TextChoices):
    """What can be paused for everybody at once."""

    INTAKE = "intake", _("intake of submissions")
    EXECUTION = "execution", _("execution of runs")
    RELEASE = "release", _("release of results")


class Order(models.Model):
    """`ordered_by` and `lifted_by` are a person's pseudonym, or the name of the part of the platform that acted."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    ordered_by = models.CharField(max_length=64)
    ordered_at = models.DateTimeField()
    reason = models.TextField()
    lifted_by = models.CharField(max_length=64, blank=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lift_reason = models.TextField(blank=True)

    class Meta:
        abstract = True


def _lifted_whole(name: str) -> models.CheckConstraint:
    """Who lifts an order says when and why; nobody lifts it before it was given."""
    whole = Q(lifted_at=None, lifted_by="", lift_reason="") | (
        Q(lifted_at__gte=models.F("ordered_at")) & ~Q(lifted_by="") & ~Q(lift_reason="")
    )
    return models.CheckConstraint(condition=whole, name=name)


class Pause(Order):
    """One switch, off from `ordered_at` to `lifted_at`."""

    switch = models.CharField(max_length=12, choices=Switch.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["switch"], condition=Q(lifted_at=None), name="pause_once_at_a_time"
            ),
            models.CheckConstraint(condition=Q(switch__in=Switch.values), name="pause_of_a_switch"),
            _lifted_whole("pause_lifted_whole"),
        ]


class FleetOrder(Order):
    """A worker, or all workers of a host, that take nothing more while it stands.

    Drained ones finish what they hold; what quarantined ones hold is stopped at once and given to others.
    """

    class Kind(models.TextChoices):
        DRAIN = "drain", _("drain")
        QUARANTINE = "quarantine", _("quarantine")

    class Scope(models.TextChoices):
        WORKER = "worker", _("worker")
        HOST = "host", _("host")

    kind = models.CharField(max_length=12, choices=Kind.choices)
    scope = models.CharField(max_length=8, choices=Scope.choices)
    name = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "scope", "name"],
                condition=Q(lifted_at=None),
                name="fleet_order_once_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=("drain", "quarantine"), scope__in=("worker", "host")) & ~Q(name=""),
                name="fleet_order_of_something",
            ),
            _lifted_whole("fleet_order_lifted_whole"),
        ]


class EpisodeQuarantine(Order):
    """An episode that is not tried again until staff release it."""

    class Cause(models.TextChoices):
        POISON = "poison", _("each of its attempts took its worker down")
        STAFF = "staff", _("set apart by staff")

    episode = models.ForeignKey("evaluation.Episode", on_delete=models.PROTECT, related_name="quarantines")
    attempt = models.ForeignKey("evaluation.Attempt", on_delete=models.PROTECT, null=True, related_name="+")
    """Its latest attempt, by whose opaque id events name it; none where it was never tried."""
    cause = models.CharField(max_length=8, choices=Cause.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["episode"], condition=Q(lifted_at=None), name="quarantine_once_at_a_time"
            ),
            _lifted_whole("quarantine_lifted_whole"),
        ]
