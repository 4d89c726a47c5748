"""The fleet's metrics: what they count, that they name nobody, and that only their own port serves them."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from django.test import Client
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from config import clock
from config.processes import Processes
from config.site.stage import free_port
from embedded.supervisor import Child, Supervisor
from evaluation import claims
from evaluation.alerts.metrics import FleetCollector
from evaluation.fleet.models import Switch
from evaluation.fleet.services import pause
from evaluation.models import WorkerReport
from tests.factories import BY, frozen_version, run_of
from tests.submissions import world

LABELS = {"queue": {"execute", "grade"}, "switch": {"intake", "execution", "release"}}


def scraped(text: str) -> dict[tuple[str, str], float]:
    """Value by (metric, its label's value); fails for a label that is not in the closed list."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            ((label, value),) = sample.labels.items()
            assert value in LABELS[label], (sample.name, label, value)
            found[sample.name, value] = sample.value
    return found


def here() -> str:
    registry = CollectorRegistry()
    registry.register(FleetCollector())
    return generate_latest(registry).decode()


@pytest.mark.django_db(transaction=True)
def test_they_count_what_waits_who_lives_and_what_is_paused() -> None:
    vendor = world.vendor()
    run = run_of(frozen_version("m.1"), lineage_id=vendor.organisation.lineage_id)
    now = clock.now()
    for name, queue, passed in (("w-1", "execute", True), ("w-2", "execute", False), ("g-1", "grade", True)):
        WorkerReport.objects.create(
            worker=name, queue=queue, grade="x", passed=passed, started_at=now, seen_at=now
        )
    assert claims.claim_execution("w-1") is not None
    pause(Switch.RELEASE, reason="a doubt", by=BY)
    text = here()
    found = scraped(text)
    assert found["lingee_claimable_episodes", "execute"] == run.total - 1
    assert found["lingee_claimable_episodes", "grade"] == 0
    assert found["lingee_oldest_wait_seconds", "execute"] > 0
    assert found["lingee_leases", "execute"] == 1
    assert found["lingee_workers_alive", "execute"] == 1, "one that failed its self-test takes nothing"
    assert found["lingee_switch_paused", "release"] == 1
    assert found["lingee_switch_paused", "execution"] == 0
    for word in (*run.version.tasks.values_list("slug", flat=True), str(run.id), "w-1", "Vendor"):
        assert word not in text


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["metrics", "metrics/", "en/metrics/", "api/v1/metrics"])
def test_the_site_serves_none(client: Client, path: str) -> None:
    assert client.get(f"/{path}").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_command_serves_them_as_the_consoles_role_and_refuses_others(servers: Any, tmp_path: Any) -> None:
    run_of(frozen_version("m.2"))
    settings = {**servers.buckets, "DJANGO_SETTINGS_MODULE": "config.settings.test"}
    processes = Processes(servers.own_connection, servers.state_dir, settings)
    port = free_port()
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(processes.metrics(port))

        def answers() -> bool:
            try:
                return bool(httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=5).status_code == 200)
            except httpx.HTTPError:
                return False

        assert supervisor.wait(60, answers), supervisor.tail("metrics")
        text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=5).text
        assert scraped(text)["lingee_claimable_episodes", "execute"] > 0
        assert not re.search("lingee_web|password", text)
        web: Child = processes.metrics(free_port(), role="web")
        supervisor.start(web)
        assert supervisor.wait(60, lambda: "may not count episodes" in supervisor.tail("metrics-web"))
