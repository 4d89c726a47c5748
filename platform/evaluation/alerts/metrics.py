"""The fleet as metrics: what an autoscaler and a monitor need, by queue and switch; no vendor, no task, no run."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import close_old_connections, connection
from django.db.models import Count
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from config import clock
from evaluation.alerts.models import FleetAlert
from evaluation.alerts.queries import QUEUES, silence, waiting
from evaluation.fleet.models import Pause, Switch
from evaluation.models import Episode, WorkerReport

HELD = {"execute": Episode.State.LEASED, "grade": Episode.State.GRADING}


class FleetCollector(Collector):
    """Reads the database at each scrape; what it says is never older than that."""

    def collect(self) -> Iterator[Metric]:
        """Gauges with the labels `queue` or `switch` only, whose values are closed lists."""
        close_old_connections()
        try:
            yield from _queues()
            yield _workers()
            yield _leases()
            yield _alerts()
            yield _switches()
        finally:
            connection.close()


def _queues() -> Iterator[Metric]:
    claimable = _gauge("claimable_episodes", "Episodes that a worker could take now.", "queue")
    oldest = _gauge(
        "oldest_wait_seconds", "How long the oldest work has waited; 0 where none waits.", "queue"
    )
    for row in waiting():
        claimable.add_metric([row.queue], row.claimable)
        waited = (clock.now() - row.since).total_seconds() if row.since else 0.0
        oldest.add_metric([row.queue], max(waited, 0.0))
    yield claimable
    yield oldest


def _workers() -> Metric:
    """Those that passed their self-test: others take nothing."""
    found = _gauge("workers_alive", "Workers that may take work and have shown a sign of life.", "queue")
    rows = WorkerReport.objects.filter(seen_at__gte=clock.now() - silence(), passed=True)
    alive = dict(rows.values_list("queue").annotate(n=Count("worker")))
    for queue in QUEUES:
        found.add_metric([queue], alive.get(queue, 0))
    return found


def _leases() -> Metric:
    found = _gauge("leases", "Episodes that workers hold now.", "queue")
    rows = Episode.objects.filter(state__in=HELD.values()).values_list("state").annotate(n=Count("id"))
    held = dict(rows)
    for queue in QUEUES:
        found.add_metric([queue], held.get(HELD[queue], 0))
    return found


def _alerts() -> Metric:
    found = _gauge("alert_open", "1 while operators are told that work of the queue waits too long.", "queue")
    late = set(FleetAlert.objects.filter(ended_at=None).values_list("queue", flat=True))
    for queue in QUEUES:
        found.add_metric([queue], int(queue in late))
    return found


def _switches() -> Metric:
    found = _gauge("switch_paused", "1 while staff have paused it for everybody.", "switch")
    paused = set(Pause.objects.filter(lifted_at=None).values_list("switch", flat=True))
    for switch in Switch.values:
        found.add_metric([switch], int(switch in paused))
    return found


def _gauge(name: str, words: str, label: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"lingee_{name}", words, labels=[label])
