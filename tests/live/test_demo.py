"""`make demo` in a fresh clone, as root and as an ordinary user: the closing line, the time it took, nothing left.

The other command of the README, `make test`, is what runs this module.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config.processes import ROOT, Processes
from embedded.services import Services
from embedded.supervisor import Supervisor

pytestmark = [
    pytest.mark.serial,
    pytest.mark.acceptance("main-job:1"),
    pytest.mark.acceptance("log:7"),
    pytest.mark.timeout(1500),
]

ORDINARY = 61234
"""A uid that nobody has."""
DOMAINS = {"general", "finance", "supply_chain", "manufacturing"}
WALL_SECONDS, RUN_SECONDS = 480, 240


@pytest.fixture
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What is committed, in a folder of its own that an ordinary user can reach."""
    place = Path(f"/tmp/lgd-{os.getpid()}-{time.monotonic_ns() % 10**6}")
    place.mkdir(mode=0o711)
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place / "main")], check=True)
    yield place / "main"
    shutil.rmtree(place)


def demo(clone: Path, *, uid: int | None, arguments: str = "") -> tuple[dict[str, Any], float]:
    """The closing line of `make demo` with an almost empty environment, and the seconds it took."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "UV_", "SSL_", "REQUESTS_"))
    }
    environment = {
        **kept,
        "PATH": os.environ["PATH"],
        "HOME": str(clone.parent),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
    python = shutil.which("python3", path=environment["PATH"])
    assert python is not None
    command = ["make", "demo", f"ARGS={arguments}"]
    if uid is not None:
        subprocess.run(["chown", "-R", f"{uid}:{uid}", str(clone.parent)], check=True)
        command = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]
    started = time.monotonic()
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    line: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return line, time.monotonic() - started


def check(line: dict[str, Any], clone: Path, *, episodes: int) -> None:
    assert line["state"] == "complete"
    assert (line["episodes"], line["coverage"]) == (episodes, 1.0)
    assert set(line["domains"]) == DOMAINS
    for row in [*line["domains"].values(), line["enterprise"]]:
        assert set(row) == {"value", "h"}
        assert 0 <= row["value"] <= 100
        assert row["h"] >= 1
    assert all(30 <= row["value"] <= 80 for row in line["domains"].values())
    assert not left_behind(clone)
    status = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(clone), "status", "--porcelain"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == ""


#: What a run from registration to result leaves in the log at the least, besides the ends of its attempts.
STORY = {
    "task_set.imported": 1,
    "task_set.frozen": 1,
    "harness.registered": 1,
    "harness.version_registered": 1,
    "upload.ended": 1,
    "submission.admitted": 1,
    "slot.consumed": 1,
    "run.ended": 3,
    "result.released": 1,
    "result.read": 1,
}


def check_log(clone: Path, *, episodes: int) -> None:
    """The demo's servers once more: the whole story is in the log, which the strict verifier and a replay accept."""
    state, export = clone / ".embedded", clone.parent / "export"
    with Services(state) as services, Supervisor(clone.parent / "log") as supervisor:
        processes = Processes(services.connection(), state)
        supervisor.start(processes.sequencer())
        with psycopg.connect(processes.environment("auditor")["DATABASE_URL"], autocommit=True) as auditor:
            assert supervisor.wait(30, lambda: is_signed(auditor)), supervisor.tail("sequencer")
            counts: dict[str, int] = dict(
                auditor.execute("SELECT kind, count(*) FROM audit_event GROUP BY kind").fetchall()
            )
        for arguments in (["audit", "export", str(export)], ["audit", "verify"]):
            command, environment = processes.command(*arguments, role="auditor")
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    assert counts["attempt.ended"] >= episodes + 1
    assert {kind: counts.get(kind, 0) >= least for kind, least in STORY.items()} == dict.fromkeys(STORY, True)
    key = (export / "keys.txt").read_text().splitlines()[0]
    question = [sys.executable, "-m", "client.audit", "verify", str(export), "--key", key, "--strict"]
    answer = subprocess.run(
        question,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stdout.splitlines()[:1]) == (0, ["OK"]), answer.stdout + answer.stderr


def is_signed(auditor: psycopg.Connection[Any]) -> bool:
    """Whether every event has its place under a checkpoint."""
    row = auditor.execute(
        "SELECT (SELECT count(*) FROM audit_event) = (SELECT max(size) FROM audit_checkpoint)"
    ).fetchone()
    return bool(row and row[0])


def left_behind(clone: Path) -> list[str]:
    """Processes that have to do with that clone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\x00", b" ").decode(errors="replace")
            places = [words, *(os.readlink(folder / name) for name in ("cwd", "exe"))]
        except OSError:
            continue
        if any(str(clone) in place for place in places):
            found.append(words)
    return found


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user takes root")


@pytest.mark.parametrize("uid", [None, pytest.param(ORDINARY, marks=[needs_root, pytest.mark.slow])])
def test_the_demo_on_the_mini_version(clone: Path, uid: int | None) -> None:
    line, _ = demo(clone, uid=uid, arguments="--size mini")
    check(line, clone, episodes=130)
    if uid is None:
        check_log(clone, episodes=130)


@pytest.mark.slow
@pytest.mark.parametrize("uid", [None, pytest.param(ORDINARY, marks=needs_root)])
def test_the_demo_on_the_full_bank_in_its_time(clone: Path, uid: int | None) -> None:
    line, seconds = demo(clone, uid=uid)
    check(line, clone, episodes=1335)
    if uid is None:
        check_log(clone, episodes=1335)
    assert seconds <= WALL_SECONDS
    assert line["run_seconds"] <= RUN_SECONDS
