"""The staff's duties with every process under its own role: the seeded staff, the console's pages, the log."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from accounts.duties.models import DutyAssignment
from accounts.models import User
from config import clock
from config.processes import Processes
from config.site.stage import free_port
from embedded.supervisor import Supervisor
from tests.accounts.duties import member_of_staff
from tests.live.crawl import session_of
from tests.pages import site
from tests.servers import Servers

pytestmark = [
    pytest.mark.serial,
    pytest.mark.timeout(300),
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
]
PATIENCE = 120.0


def ask(processes: Processes, role: str, *arguments: str) -> str:
    command, environment = processes.command(*arguments, role=role)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def staff(processes: Processes) -> list[User]:
    """The two administrators whom the console's role seeded."""
    site.task_set()
    people = json.loads(ask(processes, "console", "seed", "--task-set", "2026.9", "--quickstart"))["people"]
    return [User.objects.get(email=row["email"]) for row in people if row["as"].startswith("staff")]


@pytest.fixture
def address(servers: Servers, processes: Processes, tmp_path: Path) -> Iterator[str]:
    place = f"127.0.0.1:{free_port()}"
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(processes.web(place, role="console", name="console"))

        def answers() -> bool:
            try:
                return httpx.get(f"http://{place}/log/keys", timeout=5).status_code == 200
            except httpx.TransportError:
                return False

        assert supervisor.wait(PATIENCE, answers), supervisor.tail("console")
        yield f"http://{place}"


def post(address: str, by: User, path: str, /, **data: Any) -> httpx.Response:
    """The form of a page filled in and sent, as that person."""
    with httpx.Client(base_url=address, cookies=session_of(by), timeout=60) as client:
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get(path).text))
        return client.post(path, data={"csrfmiddlewaretoken": token, **data})


def test_the_console_gives_a_duty_and_the_log_explains_every_row(
    staff: list[User], address: str, processes: Processes, sequence: Any
) -> None:
    one, two = staff
    person, today = member_of_staff(), clock.now()
    facts = {"person": str(person.pk), "duty": "arbiter", "reason": "appeals"}
    days = {"begins_at": f"{today:%Y-%m-%d}", "ends_at": f"{today + timedelta(days=9):%Y-%m-%d}"}
    assert post(address, one, "/en/console/duties/new/", **facts, **days).status_code == 302
    row = DutyAssignment.objects.get(person=person)
    page = f"/en/console/duties/{row.id}"
    assert post(address, one, f"{page}/confirm/", reason="x").status_code == 409
    for act in ("confirm", "review", "end"):
        assert post(address, two, f"{page}/{act}/", reason="x").status_code == 302, act
    told = json.loads(ask(processes, "console", "duties", "check", "--json"))
    assert all(decision["possible"] for decision in told["decisions"])
    assert len(told["staff"]) == 9
    sequence()
    found = ask_verify(processes)
    assert not [finding for finding in found["findings"] if finding["table"].startswith("accounts_")], found


def ask_verify(processes: Processes) -> dict[str, Any]:
    """The live check; rows of the task set are arranged without events and are not asked about here."""
    command, environment = processes.command("audit", "verify", "--json", role="auditor")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
