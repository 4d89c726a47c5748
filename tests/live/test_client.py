"""The README's session of a vendor's engineer, typed as it stands there, against a running site with workers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from config.processes import ROOT
from config.site.stage import free_port

pytestmark = [pytest.mark.serial, pytest.mark.timeout(900)]
TEN_MINUTES = 600


@pytest.fixture(scope="module")
def site(make_fleet: Callable[..., Any], tmp_path_factory: Any) -> Any:
    """Workers, sequencer and web; its address, and a vendor with a token."""
    from config.site.ci_job import Job
    from tests.live.vendors import vendor, wait_for_web

    fleet = make_fleet(LINGEE_SEQUENCER_DIR=str(tmp_path_factory.mktemp("log") / "sequencer"))
    fleet.supervisor.start(fleet.processes.sequencer())
    port = free_port()
    fleet.supervisor.start(fleet.processes.web(f"127.0.0.1:{port}"))
    address = f"http://127.0.0.1:{port}"
    one = vendor("One")
    assert wait_for_web(Job(address, one.secret), fleet.supervisor.wait)
    return SimpleNamespace(address=address, vendor=one, fleet=fleet)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: Any) -> Path:
    """`dist/` as `make client` leaves it, from what is installed here."""
    from deploy import client_wheel

    found = tmp_path_factory.mktemp("dist")
    assert client_wheel.main(["--to", str(found), "--installed"]) == 0
    return Path(found)


def session() -> str:
    """The first block of the README's section for vendors."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Vendors\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)[0]


@pytest.mark.acceptance("access:2")
def test_the_readme_session_ends_with_a_result(site: Any, wheels: Path, tmp_path: Path) -> None:
    """Install, init, check, submit --wait, verify: as printed, but for the token and the place of the site."""
    (tmp_path / "platform").symlink_to(ROOT / "platform")
    lines = session()
    assert [line.split()[0] for line in lines.splitlines()[:2]] == ["python3", "export"]
    lines = lines.replace("lgb_…", site.vendor.secret)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "LGBENCH_SITE": site.address,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
    }
    begun = time.monotonic()
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TEN_MINUTES,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - begun < TEN_MINUTES
    for line in ("Harness my-harness is ready", "OK: 2 entries", "Result of ", "enterprise", "OK\n"):
        assert line in done.stdout, done.stdout
    assert site.vendor.secret not in done.stdout + done.stderr
    listed = subprocess.run([tmp_path / "v/bin/pip", "list"], capture_output=True, text=True, check=True)
    assert "django" not in listed.stdout.lower()
    result = json.loads((tmp_path / "my-harness/.lgbench/result.json").read_text())
    assert set(result["domains"]) == {"general", "finance", "supply_chain", "manufacturing"}
