"""All workers stop: page, API and command line say that it waits, operators are told, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.test import override_settings

from accounts.duties.table import Duty
from accounts.notices.models import Notice
from benchmark.models import TaskSetVersion
from config.processes import ROOT, Processes
from config.site.ci_job import Job, bundle
from config.site.stage import free_port
from embedded.supervisor import Supervisor
from evaluation.alerts.models import FleetAlert
from evaluation.models import WorkerReport
from submissions.models import QueueStanding
from tests.accounts.duties import opened
from tests.live.fleet import HARNESSES
from tests.live.vendors import vendor, wait_for_web
from tests.pages.site import signed_in
from tests.servers import Servers

pytestmark = [pytest.mark.serial, pytest.mark.slow, pytest.mark.timeout(600)]
A_MINUTE = 60.0
HARNESS = HARNESSES / "rule-script"


@contextmanager
def hands(processes: Processes, log: Path) -> Iterator[Supervisor]:
    """An execute and a grade worker, for as long as the block lasts."""
    with Supervisor(log) as supervisor:
        supervisor.start(processes.worker("execute-1", role="execute", queues=["execute"]))
        supervisor.start(processes.worker("grade-1", role="sealed", queues=["grade"]))
        yield supervisor


def status(job: Job, folder: Path, submission: str) -> str:
    """What `lgbench status` prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT / "platform"),
        "LGBENCH_SITE": job.address,
        "LGBENCH_TOKEN": job.token,
    }
    command = [sys.executable, "-m", "client", "status", submission]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout + done.stderr


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("U1")
@pytest.mark.case("G12")
@pytest.mark.case("E30")
def test_all_workers_stop_and_what_waits_runs_after_they_come_back(
    servers: Servers, imported: TaskSetVersion, tmp_path: Path
) -> None:
    engineer = opened().holder(Duty.EVALUATION_ENGINEER)
    one = vendor("One")
    address = f"127.0.0.1:{free_port()}"
    settings = {
        **servers.buckets,
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "LINGEE_TICK_SECONDS": "1",
        "LINGEE_LEASE_SECONDS": "6",
        "LINGEE_FLEET_ALERT_SECONDS": "5",
    }
    processes = Processes(servers.own_connection, servers.state_dir, settings)
    with Supervisor(tmp_path / "office") as office:
        office.start(processes.worker("office-1", role="sealed", queues=["governance"]))
        office.start(processes.beat())
        office.start(processes.web(address))
        job = Job(f"http://{address}", one.secret, wait=office.wait)
        assert wait_for_web(job, office.wait)
        with hands(processes, tmp_path / "first") as workers:
            assert workers.wait(A_MINUTE, lambda: WorkerReport.objects.count() == 2), workers.tail("grade-1")
        version = job.register(
            HARNESS.name, HARNESS.name, "0.3.1", json.loads((HARNESS / "card.json").read_text())
        )
        upload = job.upload(version, bundle(HARNESS, "0.3.1"))
        submission = job.submit(version, upload, imported.label)["id"]

        def seen() -> bool:
            queue = job.ask("GET", f"submissions/{submission}")["queue"]
            return bool(queue["evaluation_paused"])

        assert office.wait(A_MINUTE, seen)
        shown = job.ask("GET", f"submissions/{submission}")["queue"]
        assert (shown["state"], shown["place"], shown["oldest_wait_minutes"]) == ("queued", "1-3", 0)
        assert shown["evaluation_paused_since"]
        with override_settings(LEASE_SECONDS=6.0):
            page = signed_in(one.user).get(f"/en/v/submissions/{submission}/").content.decode()
        assert "Paused since" in page
        printed = status(job, tmp_path, submission)
        assert "queued: evaluation is paused since" in printed, printed
        assert "among the first three" in printed
        assert job.ask("GET", "health")["status"] == "degraded"
        assert office.wait(A_MINUTE, FleetAlert.objects.filter(queue="execute").exists), office.tail(
            "office-1"
        )
        assert [row.person for row in Notice.objects.filter(kind="fleet.waiting")] == [engineer]
        noted = QueueStanding.objects.get(submission=submission)

        with hands(processes, tmp_path / "second") as workers:
            job.follow(submission, lambda state, done: None)
            assert job.ask("GET", "health")["status"] == "ok"
            assert office.wait(A_MINUTE, FleetAlert.objects.exclude(ended_at=None).exists), workers.tail(
                "execute-1"
            )
        again = QueueStanding.objects.get(submission=submission)
        assert (again.place, again.noted_at) == (noted.place, noted.noted_at)
        assert len(job.ask("GET", "submissions")["submissions"]) == 1
