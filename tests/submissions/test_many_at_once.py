"""Fifty at once against two server processes: no counter is ever below zero or above its limit, for any reader."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from submissions import services
from submissions.models import Slot, Submission
from tests.submissions import world

TOGETHER = 50
LIMIT = 3
NUMBERS: dict[str, int] = {
    "line": LIMIT,
    "lineage": 20,
    "account": 20,
    "in_flight": 60,
    "preflight": 60,
    "cooldown_seconds": 0,
}


@contextmanager
def watched(client: httpx.Client, base: str, headers: dict[str, str], seen: list[int]) -> Iterator[None]:
    """Read the quota over and over meanwhile; `seen` gets each number of used submissions that was shown."""
    over, wrong = threading.Event(), []

    def watch() -> None:
        while not over.is_set():
            body = client.get(f"{base}/api/v1/quota", headers=headers, timeout=60).json()
            for line in body["task_sets"][0]["harnesses"]:
                for row in line["counters"]:
                    parts = row["reserved"], row["consumed"], row["refunded"], row["remaining"]
                    if not 0 <= row["used"] <= row["limit"] or min(parts) < 0:
                        wrong.append(row)
                    if row["counter"] == "line":
                        seen.append(row["used"])

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(120)
    assert wrong == []


@pytest.mark.case("U4")
@pytest.mark.serial
def test_fifty_at_once_never_exceed_a_counter_nor_take_it_below_zero(two_servers: list[str]) -> None:
    vendor = world.vendor()
    harness, task_set = vendor.harness(), world.task_set("many", profile="demo", **NUMBERS)
    bodies = [world.body_of(vendor.order(task_set, harness)) for _ in range(TOGETHER)]
    headers = {"authorization": f"Bearer {vendor.api.secret}"}
    seen: list[int] = []

    def wave(client: httpx.Client, wanted: list[dict[str, Any]]) -> Counter[str]:
        gate = threading.Barrier(len(wanted))

        def act(at: int) -> str:
            gate.wait(60)
            keyed = {**headers, "idempotency-key": uuid.uuid4().hex}
            url = f"{two_servers[at % 2]}/api/v1/submissions"
            answer = client.post(url, json=wanted[at], headers=keyed, timeout=120)
            return "admitted" if answer.status_code == 202 else str(answer.json()["code"])

        with ThreadPoolExecutor(len(wanted)) as pool:
            return Counter(pool.map(act, range(len(wanted))))

    with httpx.Client(limits=httpx.Limits(max_connections=TOGETHER + 1)) as client:
        with watched(client, two_servers[0], headers, seen):
            assert wave(client, bodies) == {"admitted": LIMIT, "quota_line": TOGETHER - LIMIT}
        taken = {str(row.upload_id) for row in Submission.objects.all()}
        services.cancel(Submission.objects.order_by("id")[0].id, by=vendor.actor)
        left = [body for body in bodies if body["upload"] not in taken]
        with watched(client, two_servers[1], headers, seen):
            assert wave(client, left) == {"admitted": 1, "quota_line": len(left) - 1}
    states = Counter(Slot.objects.values_list("state", flat=True))
    assert states == {"reserved": LIMIT, "refunded": 1}
    assert len(seen) > 2
    assert seen[-1] == LIMIT
