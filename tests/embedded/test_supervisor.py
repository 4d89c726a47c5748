"""The supervisor: restarts what dies, stops what it started, takes everything down with it."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from embedded.supervisor import Child, Supervisor
from tests.servers import ROOT

pytestmark = pytest.mark.serial


def child(name, code, tmp_path, **more):
    return Child(name, [sys.executable, "-c", textwrap.dedent(code)], dict(os.environ), tmp_path, **more)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_child_that_dies_is_started_again_with_growing_delay(tmp_path):
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(child("short", "import time; print('born', flush=True); time.sleep(0.02)", tmp_path))
        assert supervisor.wait(10, until=lambda: supervisor.deaths("short") >= 3)
    assert 3 <= supervisor.tail("short").count("born") <= 4


def test_stop_asks_first_and_kills_what_does_not_listen(tmp_path):
    polite = "import signal, sys, time; signal.signal(15, lambda *_: (print('bye', flush=True), sys.exit()));"
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(child("polite", polite + "print('up', flush=True); time.sleep(60)", tmp_path))
        supervisor.start(child("deaf", deaf, tmp_path, stop_seconds=0.5))
        pids = [supervisor.pid(name) for name in ("polite", "deaf")]
        assert supervisor.wait(10, until=lambda: all(supervisor.tail(name) for name in ("polite", "deaf")))
        began = time.monotonic()
    assert time.monotonic() - began < 3
    assert not any(alive(pid) for pid in pids)
    assert (tmp_path / "log/polite.log").read_text().endswith("bye\n")


def test_grandchildren_go_too(tmp_path):
    code = """
        import subprocess, time
        print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
        time.sleep(60)
    """
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(child("parent", code, tmp_path))
        assert supervisor.wait(10, until=lambda: bool(supervisor.tail("parent")))
        grandchild = int(supervisor.tail("parent"))
        assert alive(grandchild)
    time.sleep(0.1)
    assert not alive(grandchild)


TOOL = """
import os, signal, sys
from pathlib import Path
from embedded.supervisor import Child, Supervisor
folder = Path(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
with Supervisor(folder / "log") as supervisor:
    supervisor.start(Child("sleeper", ["sleep", "600"], dict(os.environ), folder))
    try:
        print(supervisor.pid("sleeper"), flush=True)
        supervisor.run()
    finally:
        print("unwound", flush=True)
"""


def start_tool(tmp_path):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"}
    tool = subprocess.Popen(
        [sys.executable, "-c", TOOL, str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert tool.stdout is not None
    return tool, int(tool.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_tool_unwinds_it_and_stops_the_children(tmp_path, number):
    tool, sleeper = start_tool(tmp_path)
    tool.send_signal(number)
    rest, _ = tool.communicate(timeout=10)
    assert rest == "unwound\n"
    assert tool.returncode in {128 + number, -number, 1}
    assert not alive(sleeper)


def test_kill_9_of_the_tool_leaves_no_child(tmp_path):
    tool, sleeper = start_tool(tmp_path)
    tool.kill()
    tool.wait(10)
    time.sleep(0.2)
    assert not alive(sleeper)


def test_only_one_child_of_a_name(tmp_path):
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(child("one", "import time; time.sleep(60)", tmp_path))
        with pytest.raises(ValueError, match="supervised already"):
            supervisor.start(child("one", "pass", tmp_path))
