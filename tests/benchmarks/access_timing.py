"""access:4: another vendor's object and none at all are answered in the same time, as far as a client can measure.

Over real HTTP, 200 pairs an address: one id of another vendor's, one of nobody's, in an order drawn anew for each
pair. Were the answers told apart by their time, the two samples would differ by Mann-Whitney's test (two-sided).
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import httpx
from scipy.stats import mannwhitneyu

from tests.benchmarks.registry import Bar, bars

if TYPE_CHECKING:
    from tests.submissions.world import Vendor

PAIRS, WARM, SEED = 200, 20, 20261101
P = 0.001
NO_RATES = {f"LINGEE_API_{name}": "0" for name in ("READS", "WRITES", "ANONYMOUS")}


@bars.measure("access:4")
def timing() -> list[Bar]:
    """The chance of so great a difference where there is none, by address."""
    from config.site.stage import stage

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        place.chmod(0o711)
        with stage(place / "state", "bench", lambda text: None, NO_RATES) as site:
            site.manage("owner", "migrate", "--no-input")
            os.environ.update(site.processes.environment("test"))
            import django

            django.setup()
            site.supervisor.start(site.processes.web(f"127.0.0.1:{site.port}"))
            site.await_answer("web", site.address)
            return _measured(site.address)


def _measured(address: str) -> list[Bar]:
    from tests.submissions import world

    owner, stranger = world.vendor(), world.vendor()
    headers = {"Authorization": f"Bearer {stranger.api.secret}"}
    found = []
    with httpx.Client(base_url=f"{address}/api/v1", headers=headers, timeout=30) as client:
        for name, foreign in _things(owner).items():
            figure = _difference(client, name, foreign)
            found.append(Bar(f"p_{name}", figure=figure, at_least=P))
    return found


def _things(owner: Vendor) -> dict[str, list[UUID]]:
    """Ids that exist and are not the stranger's, by the name of their address."""
    harnesses = [owner.harness(f"h{number}") for number in range(10)]
    versions = [owner.version(harness) for harness in harnesses]
    return {
        "harnesses": [row.id for row in harnesses],
        "versions": [row.id for row in versions],
        "uploads": [owner.upload(row).id for row in versions],
    }


def _difference(client: httpx.Client, name: str, foreign: list[UUID]) -> float:
    dice = random.Random(SEED)
    missing = [uuid4() for _ in foreign]
    taken: dict[str, list[float]] = {"foreign": [], "missing": []}
    for number in range(WARM + PAIRS):
        pair: list[tuple[str, UUID]] = [
            ("foreign", foreign[number % len(foreign)]),
            ("missing", missing[number % len(missing)]),
        ]
        dice.shuffle(pair)
        for kind, asked in pair:
            seconds = _seconds(lambda asked=asked: client.get(f"/{name}/{asked}"))
            if number >= WARM:
                taken[kind].append(seconds)
    return float(mannwhitneyu(taken["foreign"], taken["missing"], alternative="two-sided").pvalue)


def _seconds(ask: Callable[[], Any]) -> float:
    started = time.perf_counter()
    answer = ask()
    spent = time.perf_counter() - started
    assert answer.status_code == httpx.codes.NOT_FOUND, answer.text
    return spent
