"""Arrangements that many tests of submissions share."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from django.conf import settings

from benchmark.models import TaskSetVersion
from config.site.stage import free_port
from embedded.supervisor import Child, Supervisor
from submissions.models import Harness
from tests.submissions import world

ONE_PROCESS = {
    "LINGEE_WEB_PROCESSES": "1",
    "LINGEE_WEB_THREADS": "20",
    "LINGEE_LOG_LEVEL": "ERROR",
    "LINGEE_API_READS": "0",
    "LINGEE_API_WRITES": "0",
}
"""Of each server: many threads, and no limit of requests in the way of what is tried."""


@pytest.fixture(autouse=True)
def _keys() -> None:
    """Packages are sealed by workers; the test process is all of them."""
    assert settings.VAULT_KEY_WORKER


@pytest.fixture
def vendor(db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def other(db: None) -> world.Vendor:
    return world.vendor()


@pytest.fixture
def task_set(db: None) -> TaskSetVersion:
    return world.task_set()


@pytest.fixture
def harness(vendor: world.Vendor) -> Harness:
    return vendor.harness()


@pytest.fixture
def two_servers(processes: Any, transactional_db: None, tmp_path: Any) -> Iterator[list[str]]:
    """Addresses of two gunicorn processes, each with one worker of many threads."""
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    with Supervisor(tmp_path / "log") as supervisor:
        for number, address in enumerate(addresses):
            child: Child = processes.web(address, name=f"web{number}")
            supervisor.start(replace(child, environment={**child.environment, **ONE_PROCESS}))
        for address in addresses:
            _await(f"http://{address}/api/v1/task-sets")
        yield [f"http://{address}" for address in addresses]


def _await(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if httpx.get(url, timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError(f"{url} does not answer")
