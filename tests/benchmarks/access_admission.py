"""access:5: what an admission costs: processor time of web process and database sessions, and waiting in a crowd.

The site's own web process answers over HTTP; harnesses, cards and packages are there before. Each submission takes
the locks, counts, writes its slot and its events. Rate limits are off, as they would end the measurement.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import httpx
import psutil

from tests.benchmarks.registry import Bar, bars

if TYPE_CHECKING:
    from tests.submissions.world import Vendor

ADMIT_MS, REFUSE_MS, TAIL = 25.0, 12.0, 10.0
BATCH, BATCHES, WARM = 10, 15, 2
"""The kernel counts processor time in ticks of 10 ms: a figure is one of ten requests."""
CLIENTS, EACH = 8, 30
NO_RATES = {f"LINGEE_API_{name}": "0" for name in ("READS", "WRITES", "ANONYMOUS")}
PLENTY: dict[str, Any] = {
    "line": 9999,
    "lineage": 9999,
    "account": 9999,
    "in_flight": 9999,
    "preflight": 9999,
}


@bars.measure("access:5")
def admission() -> list[Bar]:
    """Processor milliseconds of an admission and of a refusal; the slowest hundredth over the median, of 8 clients."""
    from config.site.stage import stage

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        place.chmod(0o711)
        with stage(
            place / "state", "bench", lambda text: None, {**NO_RATES, "LINGEE_WEB_PROCESSES": "1"}
        ) as site:
            _begin(site)
            return _measured(site)


def _begin(site: Any) -> None:
    """Database, this process as a member of the serving roles, and the site's web process alone."""
    site.manage("owner", "migrate", "--no-input")
    os.environ.update(site.processes.environment("test"))
    import django

    django.setup()
    site.supervisor.start(site.processes.web(f"127.0.0.1:{site.port}"))
    site.await_answer("web", site.address)


def _measured(site: Any) -> list[Bar]:
    from tests.submissions import world

    open_set = world.task_set("plenty", **PLENTY)
    spent_set = world.task_set("spent", **{**PLENTY, "line": 3})
    vendors = [world.vendor() for _ in range(CLIENTS)]
    with _client(site, vendors[0]) as client:
        admit = _cost(client, lambda: _orders(vendors[0], open_set, BATCH), 202)
        spent = vendors[0].harness("spent")
        for body in _orders(vendors[0], spent_set, 3, spent):
            assert _post(client, body) == 202
        over = _orders(vendors[0], spent_set, 1, spent)
        refuse = _cost(client, lambda: over * BATCH, 429)
    waits = _crowd(site, [(vendor, _orders(vendor, open_set, EACH)) for vendor in vendors])
    tail = quantiles(waits, n=100)[98] / median(waits)
    return [
        Bar("admission_cpu", figure=admit, at_most=ADMIT_MS, unit="ms"),
        Bar("refusal_cpu", figure=refuse, at_most=REFUSE_MS, unit="ms"),
        Bar("crowd_p99_over_median", figure=tail, at_most=TAIL, unit="x"),
    ]


def _orders(vendor: Vendor, task_set: Any, count: int, harness: Any = None) -> list[dict[str, Any]]:
    """Bodies of submissions of one harness, each with a version and package of its own."""
    from tests.submissions import world

    harness = harness or vendor.harness(f"h{uuid.uuid4().hex[:8]}")
    return [world.body_of(vendor.order(task_set, harness)) for _ in range(count)]


@contextmanager
def _client(site: Any, vendor: Vendor) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {vendor.api.secret}"}
    with httpx.Client(base_url=f"{site.address}/api/v1/", headers=headers, timeout=30) as client:
        yield client


def _post(client: httpx.Client, body: dict[str, Any]) -> int:
    return client.post("submissions", json=body, headers={"idempotency-key": uuid.uuid4().hex}).status_code


def _cost(client: httpx.Client, bodies: Callable[[], list[dict[str, Any]]], status: int) -> float:
    """Processor milliseconds a request, median over batches; the first ones only warm up."""
    costs = []
    for _ in range(WARM + BATCHES):
        batch = bodies()
        before = _spent()
        for body in batch:
            assert _post(client, body) == status
        costs.append((_spent() - before) * 1000 / BATCH)
    return median(costs[WARM:])


def _spent() -> float:
    """Processor seconds so far of the web process and of the database sessions that it has."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            words = " ".join(process.cmdline())
            if "gunicorn" in words or "postgres: lingee_web" in words:
                times = process.cpu_times()
                total += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return total


def _crowd(site: Any, work: list[tuple[Vendor, list[dict[str, Any]]]]) -> list[float]:
    """Seconds each submission took, of clients that each send the next when the last is answered."""
    gate, waits = threading.Barrier(len(work)), []

    def run(vendor: Vendor, bodies: list[dict[str, Any]]) -> None:
        with _client(site, vendor) as client:
            client.get("quota")
            gate.wait()
            for body in bodies:
                began = time.monotonic()
                status = _post(client, body)
                waits.append(time.monotonic() - began)
                assert status == 202

    threads = [threading.Thread(target=run, args=row) for row in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(waits) == CLIENTS * EACH
    return waits
