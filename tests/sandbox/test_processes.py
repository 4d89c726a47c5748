"""Nothing of an episode outlives it, whoever dies: harness, episode process, keeper, worker, or nobody."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

import evaluation.sandbox
from evaluation.sandbox.box import KILL_SECONDS, START_SECONDS
from evaluation.sandbox.bubblewrap import Backend
from evaluation.sandbox.evidence import running_with
from evaluation.sandbox.spec import Ending, InfrastructureFault, KeeperLost, SandboxStartFailed

pytestmark = pytest.mark.serial

STUBBORN = """
import os, signal, subprocess, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
for _ in range(2):
    if os.fork(): time.sleep(600)
    os.setsid()
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{token}"], start_new_session=True)
os.execv(sys.executable, ["python3", "-c", "import time; time.sleep(600)", "{token}"])
"""


ZOMBIE = {"name": "bwrap", "status": psutil.STATUS_ZOMBIE}


def wait_until(condition, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def groups(keeper: int) -> set[str]:
    """Control groups of one keeper on this host, by path."""
    return {str(path) for path in Path("/sys/fs/cgroup").glob(f"**/lingee-{keeper}-*") if path.is_dir()} | {
        str(path) for path in Path("/sys/fs/cgroup").glob(f"**/lingee-{keeper}-*/e-*")
    }


def keeper_of(bench) -> int:
    return bench.backend.keeper().process.pid


def footprint(keeper: int, folder: Path) -> dict[str, object]:
    """What a leak would show up in: processes, groups, mounts, temporary folders, our descriptors."""
    return {
        "processes": len(psutil.Process().children(recursive=True)),
        "zombies": sum(1 for p in psutil.process_iter(["name", "status"]) if p.info == ZOMBIE),
        "groups": groups(keeper),
        "mounts": Path("/proc/self/mountinfo").read_text().count("\n"),
        "temporary": sorted(str(path) for path in folder.rglob("*")),
        "descriptors": len(os.listdir("/proc/self/fd")),
    }


@pytest.mark.case("H1")
def test_a_stubborn_grandchild_is_gone_two_seconds_after_the_deadline(bench) -> None:
    token = secrets.token_hex(12)
    seen = threading.Event()

    def watch() -> None:
        if wait_until(lambda: running_with(token)):
            seen.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.monotonic()
    outcome = bench.run(STUBBORN.format(token=token), budget_seconds=1.0)
    late = time.monotonic() - began - 1.0
    watcher.join()
    assert seen.is_set()
    assert not running_with(token)
    assert outcome.ending is Ending.BUDGET_EXHAUSTED
    assert late < 2
    assert not [name for name in groups(keeper_of(bench)) if "/e-" in name]


@pytest.mark.case("H5")
@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_timed_out_runs_leave_nothing(bench, count) -> None:
    code = "import os, time\nos.fork(); os.fork(); open('x','w').write('x'); time.sleep(60)"
    bench.run(code, budget_seconds=0.1)
    keeper = keeper_of(bench)
    assert wait_until(lambda: not psutil.Process(keeper).children())
    before = footprint(keeper, bench.tmp)
    for _ in range(count):
        assert bench.run(code, budget_seconds=0.1).ending is Ending.BUDGET_EXHAUSTED
    wait_until(lambda: footprint(keeper, bench.tmp) == before)
    after = footprint(keeper, bench.tmp)
    assert {name: (before[name], found) for name, found in after.items() if found != before[name]} == {}


def _start_stubborn(bench, token: str) -> tuple[threading.Thread, list[BaseException]]:
    """Run the stubborn harness in a thread; returns when it is up. What the run raises is collected."""
    raised: list[BaseException] = []

    def target() -> None:
        try:
            bench.run(STUBBORN.format(token=token), budget_seconds=60.0, limits=bench.spec("").limits)
        except BaseException as fault:
            raised.append(fault)

    thread = threading.Thread(target=target)
    thread.start()
    assert wait_until(lambda: running_with(token))
    return thread, raised


@pytest.mark.case("H3")
@pytest.mark.parametrize("victim", ["keeper", "episode"])
def test_a_retry_never_starts_beside_the_former_attempt(bench, victim) -> None:
    """When our own process is killed the fault is raised only after the attempt's processes are gone."""
    token = secrets.token_hex(12)
    keeper = psutil.Process(bench.backend.keeper().process.pid)
    thread, raised = _start_stubborn(bench, token)
    (keeper if victim == "keeper" else keeper.children()[0]).kill()
    thread.join(10)
    assert not running_with(token)
    assert [type(fault) for fault in raised] == [KeeperLost]
    assert bench.run("pass").ending is Ending.FINISHED
    assert wait_until(lambda: not [name for name in groups(keeper_of(bench)) if "/e-" in name])


WORKER = """
import sys
from pathlib import Path
from evaluation.sandbox.backends import run_episode
from evaluation.sandbox.spec import RunSpec
harness, work = map(Path, sys.argv[1:3])
run_episode(RunSpec("a", ("python3", "/harness/run.py"), harness, b"", bytes(10240), 0, 60.0, 1, 1), work)
"""


def test_killing_the_worker_kills_everything(bench, tmp_path) -> None:
    token = secrets.token_hex(12)
    spec = bench.spec(STUBBORN.format(token=token))
    environment = os.environ | {"PYTHONPATH": str(Path(evaluation.sandbox.__file__).parents[2])}
    command = [sys.executable, "-c", WORKER, str(spec.harness_dir), str(tmp_path)]
    worker = subprocess.Popen(command, env=environment)
    assert wait_until(lambda: running_with(token))
    family = psutil.Process(worker.pid).children(recursive=True)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert wait_until(lambda: not running_with(token), 2.0)
    assert wait_until(
        lambda: not [p for p in family if p.is_running() and p.status() != psutil.STATUS_ZOMBIE], 3.0
    )
    assert wait_until(lambda: not groups(family[0].pid))


def test_groups_of_a_killed_keeper_are_swept_by_the_next(bench) -> None:
    keeper = bench.backend.keeper().process
    if not groups(keeper.pid):
        pytest.skip("no control groups here")
    keeper.kill()
    keeper.wait()
    bench.run("pass")
    assert not groups(keeper.pid)


@pytest.mark.case("H34")
@pytest.mark.parametrize("stub", ["sleep 600 & wait", pytest.param("exec sleep 600", marks=pytest.mark.slow)])
def test_a_hanging_tool_delays_a_run_by_its_own_deadline_only(bench, tmp_path, open_dir, stub) -> None:
    tool = open_dir / "bwrap"
    tool.write_text(f"#!/bin/sh\n{stub}\n")
    tool.chmod(0o755)
    backend = Backend(bench.backend.copies, str(tool))
    try:
        began = time.monotonic()
        with pytest.raises(SandboxStartFailed):
            backend.run_episode(bench.spec("pass", budget_seconds=1.5), tmp_path)
        assert time.monotonic() - began < START_SECONDS + KILL_SECONDS
    finally:
        backend.close()


def test_a_failing_tool_is_a_fault_of_ours(bench, tmp_path) -> None:
    with pytest.raises(InfrastructureFault):
        Backend(bench.backend.copies, "/bin/false").run_episode(bench.spec("pass"), tmp_path)
    with pytest.raises(InfrastructureFault):
        Backend(bench.backend.copies, "/no/such/tool").run_episode(bench.spec("pass"), tmp_path)


def test_many_episodes_at_once_do_not_disturb_each_other(bench, tmp_path) -> None:
    """Eight threads, one keeper: every episode sees only its own files and its own seed."""
    results: dict[int, bytes] = {}
    spec = bench.spec(
        "import os; open('mine', 'w').write(os.environ['EPISODE_SEED'])\n"
        "print(sorted(os.listdir()), open('mine').read())"
    )

    def one(number: int) -> None:
        from dataclasses import replace

        work = tmp_path / f"work{number}"
        work.mkdir()
        results[number] = bench.backend.run_episode(replace(spec, seed=number), work).stdout

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"['data.csv', 'dir', 'mine'] {number}\n".encode() for number in range(8)}


def test_a_forked_child_has_a_keeper_of_its_own(bench) -> None:
    bench.run("pass")
    pid = os.fork()
    if pid == 0:
        try:
            fine = bench.run("print(1)").stdout == b"1\n"
            bench.backend.close()
            os._exit(0 if fine else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert bench.run("print(2)").stdout == b"2\n"
