"""Workers, Redis and PostgreSQL are killed in mid-run: the results are those of an undisturbed run; nothing stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.servers import ROOT

pytestmark = pytest.mark.serial


def program(module: str, *numbers: int) -> dict[str, Any]:
    """What such a program reports; in a process of its own, since its servers are killed."""
    foreign = ("DATABASE_URL", "REDIS_URL", "S3_", "LINGEE_", "VAULT_", "DJANGO_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    environment["PYTHONPATH"] = f"{ROOT}:{ROOT / 'platform'}"
    command = [sys.executable, "-m", module, *(str(number) for number in numbers)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    print(json.dumps(found, indent=1))
    return found


def holds(found: dict[str, Any], kills: int) -> None:
    assert (found["missing"], found["results"]) == ([0, 0], found["episodes"])
    assert found["same"], "results differ"
    assert (len(found["killed"]), found["pending"]) == (kills, 0)
    assert {"postgresql", "redis"} < set(found["killed"])
    assert found["faults"] > 0, "no kill hit an attempt"
    for wrong in found["ledger"].values():
        assert not any(wrong.values()), found["ledger"]
    assert not any(found["left"].values()), found["left"]


@pytest.mark.slow
@pytest.mark.case("E26")
@pytest.mark.case("H11")
@pytest.mark.case("H33")
@pytest.mark.timeout(900)
def test_a_few_kills_change_no_result_and_leave_nothing() -> None:
    holds(program("tests.live.upheaval", 36, 4, 20261201), kills=4)


@pytest.mark.slow
@pytest.mark.acceptance("fleet:3")
@pytest.mark.timeout(2400)
def test_five_hundred_episodes_among_kills_give_what_an_undisturbed_run_gives() -> None:
    found = program("tests.live.upheaval", 500, 24, 20261202)
    assert found["episodes"] >= 500
    holds(found, kills=24)
