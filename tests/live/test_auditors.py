"""The auditors' pages in the console's real process, exports by a real office worker: each under its own role."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from audit.queries import verifier_keys
from client.audit.main import main as lgbench_audit
from config.processes import Processes
from config.site.stage import free_port
from embedded.supervisor import Supervisor
from tests.accounts.test_auditors import appointed
from tests.live.crawl import session_of
from tests.servers import Servers
from tests.submissions import world

pytestmark = [
    pytest.mark.serial,
    pytest.mark.timeout(300),
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
]
PATIENCE = 120.0


@dataclass
class Console:
    """The auditor's browser at the console, and the supervisor that keeps everything running."""

    client: httpx.Client
    supervisor: Supervisor

    def page(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200, (path, answer.status_code, self.supervisor.tail("console"))
        return answer.text


@pytest.fixture
def console(servers: Servers, tmp_path: Path) -> Iterator[Console]:
    extra = {
        **servers.buckets,
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "LINGEE_TICK_SECONDS": "1",
        "LINGEE_SEQUENCER_DIR": str(tmp_path / "sequencer"),
    }
    made = Processes(servers.own_connection, servers.state_dir, extra)
    term = appointed()
    world.vendor()
    address = f"127.0.0.1:{free_port()}"
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(made.sequencer())
        supervisor.start(made.worker("office-1", role="sealed", queues=["governance"]))
        supervisor.start(made.beat())
        supervisor.start(made.web(address, role="console", name="console"))
        client = httpx.Client(base_url=f"http://{address}", cookies=session_of(term.person), timeout=60)

        def answers() -> bool:
            try:
                return client.get("/log/keys").status_code == 200
            except httpx.TransportError:
                return False

        assert supervisor.wait(PATIENCE, answers), supervisor.tail("console")
        yield Console(client, supervisor)


def test_an_auditor_looks_asks_and_verifies(console: Console, tmp_path: Path) -> None:
    for path in (
        "audit/",
        "audit/checkpoints/",
        "audit/statistics/",
        "audit/integrity/",
        "log/",
        "log/verify/",
    ):
        console.page(f"/en/{path}")
    assert console.supervisor.wait(
        PATIENCE, lambda: bool(re.search(r"0 – \d+", console.page("/en/audit/integrity/")))
    ), console.supervisor.tail("office-1")
    page = console.page("/en/audit/exports/")
    (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page))
    asked = console.client.post(
        "/en/audit/exports/", data={"csrfmiddlewaretoken": token, "kind": "organisation."}
    )
    assert asked.status_code == 302, asked.text
    assert console.supervisor.wait(PATIENCE, lambda: "Download" in console.page("/en/audit/exports/")), (
        console.supervisor.tail("office-1")
    )
    (link,) = set(re.findall(r"/en/audit/exports/[0-9a-f-]{36}/", console.page("/en/audit/exports/")))
    tar = tmp_path / "export.tar"
    tar.write_bytes(console.client.get(link).content)
    with tarfile.open(fileobj=BytesIO(tar.read_bytes())) as archive:
        assert "manifest.json" in archive.getnames()
    key = verifier_keys()[-1]
    assert lgbench_audit(["verify", str(tar), "--key", key, "--strict"]) == 0
    event = console.client.get("/en/audit/positions/0/").headers["Location"]
    proof = tmp_path / "entry.tlog-proof"
    proof.write_bytes(console.client.get(f"{event}proof").content)
    assert lgbench_audit(["verify", str(proof), "--key", key]) == 0
    assert "was given the export" in console.page("/en/audit/?kind=export.delivered")
    said = StringIO()
    call_command("audit", "verify", stdout=said)
    assert "all is well" in said.getvalue()


def test_the_process_that_serves_vendors_cannot_read_as_an_auditor(processes: Any) -> None:
    for role, holds in [
        ("web", False),
        ("execute", False),
        ("console", True),
        ("sealed", True),
        ("owner", False),
    ]:
        assert ("AUDITOR_DATABASE_URL" in processes.environment(role)) is holds
    environment = processes.sequencer().environment
    assert "AUDITOR_DATABASE_URL" not in environment
