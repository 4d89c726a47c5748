"""Which orders stand."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from evaluation.fleet.models import EpisodeQuarantine, FleetOrder, Pause, Switch


def is_paused(switch: Switch) -> bool:
    return Pause.objects.filter(switch=switch, lifted_at=None).exists()


def standing_pauses() -> list[Pause]:
    """Each switch that is off, with who, when and why."""
    return list(Pause.objects.filter(lifted_at=None).order_by("switch"))


def pause_history(most: int = 50) -> list[Pause]:
    """The latest pauses, those that are over included; newest first."""
    return list(Pause.objects.order_by("-ordered_at")[:most])


def standing_orders() -> list[FleetOrder]:
    """Every drain and quarantine of a worker or host that stands."""
    return list(FleetOrder.objects.filter(lifted_at=None).order_by("scope", "name", "kind"))


def orders_on(worker: str, host: str) -> QuerySet[FleetOrder]:
    """Those that stand for this worker, its host's included."""
    mine = Q(scope=FleetOrder.Scope.WORKER, name=worker) | Q(scope=FleetOrder.Scope.HOST, name=host)
    return FleetOrder.objects.filter(mine, lifted_at=None)


def quarantined_episodes() -> list[EpisodeQuarantine]:
    """Episodes that wait for staff, longest first."""
    rows = EpisodeQuarantine.objects.filter(lifted_at=None).select_related("episode__run", "attempt")
    return list(rows.order_by("ordered_at"))
