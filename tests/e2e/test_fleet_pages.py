"""The fleet's pages, a submission's runs for staff, and the queue for its vendor, in a real browser: axe, widths."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from accounts.duties.table import Duty
from config import clock
from evaluation import claims
from evaluation.claims import Finish
from evaluation.fleet import services as fleet
from evaluation.fleet.models import Switch
from evaluation.models import Ending, Episode, WorkerReport
from tests.accounts.duties import acting, opened
from tests.e2e.test_accessibility import look_at
from tests.e2e.test_duties import sign_in
from tests.e2e.test_rooms import with_password
from tests.factories import BY
from tests.submissions import outcomes, world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.case("E3")]
PROBES = [
    {"name": "no_network", "where": "agent", "result": "fail", "detail": "('TCP', 'went out')"},
    {"name": "memory", "where": "grader", "result": "pass", "detail": "measured 268435456"},
]


def reported(worker: str, queue: str, host: str, *, passed: bool) -> None:
    now = clock.now()
    WorkerReport.objects.create(
        worker=worker,
        queue=queue,
        host=host,
        grade="host",
        passed=passed,
        report={"probes": PROBES},
        started_at=now,
        seen_at=now,
    )


def test_the_pages_are_accessible(page: Any, live_server: Any, complaints: list[str]) -> None:
    office, vendor = opened(), world.vendor()
    engineer = office.holder(Duty.EVALUATION_ENGINEER)
    found = outcomes.bring_to(vendor.submit(world.task_set(), vendor.harness()), "running")
    queued = vendor.submit(found.task_set, vendor.harness("second"))
    for name, queue, host, passed in (
        ("execute-1@rack-1-0a1b2c3d", "execute", "rack-1", True),
        ("execute-2@rack-1-4e5f6a7b", "execute", "rack-1", False),
        ("grade-1@rack-2-8c9d0e1f", "grade", "rack-2", True),
    ):
        reported(name, queue, host, passed=passed)
    for _ in range(4):
        claim = claims.claim_execution("execute-1@rack-1-0a1b2c3d")
        if claim is not None:
            finish = Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause="store_or_disk")
            claims.finish_attempt(claim, finish, by=BY)
    claims.claim_execution("execute-1@rack-1-0a1b2c3d")
    with clock.shifted(-timedelta(minutes=10)):
        episode = Episode.objects.filter(run=found.held_out_run, state="ready").order_by("position")[0]
    by = acting(engineer)
    apart = fleet.quarantine_episode(episode.pk, reason="It takes its worker down each time.", by=by)
    order = fleet.order_fleet("drain", "worker", "grade-1@rack-2-8c9d0e1f", reason="New disks.", by=by)
    fleet.pause(Switch.EXECUTION, reason="The store is moved to another rack tonight.", by=by)
    assert apart is not None
    run = f"console/submissions/{found.id}/"
    seen = [
        (
            engineer,
            [
                "console/workers/",
                run,
                f"{run}rerun/",
                f"console/quarantines/{apart.id}/release/",
                "console/switches/execution/resume/",
                "console/fleet/quarantine/host/rack-1/",
                f"console/orders/{order.id}/lift/",
            ],
        ),
        (vendor.user, ["v/", f"v/submissions/{queued.id}/"]),
    ]
    for place, (person, paths) in enumerate(seen):
        sign_in(page, live_server.url, with_password(person))
        addresses = [
            f"{live_server.url}/{language}/{path}" for path in paths for language in ("en", "zh-hans")
        ]
        if folder := os.environ.get("LINGEE_SHOTS"):
            for number, address in enumerate(addresses):
                for width in (390, 1440):
                    page.set_viewport_size({"width": width, "height": 900})
                    page.goto(address)
                    page.screenshot(path=Path(folder) / f"f{place}-{number}-{width}.png", full_page=True)
        assert look_at(page, addresses) == []
    assert complaints == []
