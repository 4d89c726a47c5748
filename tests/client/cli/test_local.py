"""`lgbench run-local` on generated public tasks: real sandbox, real grading."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from client.local import box
from tests.live.fleet import HARNESSES

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SPY = """
import os, pathlib, socket, sys
try:
    socket.create_connection(("127.0.0.1", 22), 1)
except OSError as error:
    network = type(error).__name__
seen = [str(p) for p in ("/etc/passwd", "/root", "/home/agent") if os.path.exists(p)]
said = [os.environ["TURN"], os.environ["TURNS"], os.environ["EPISODE_SEED"], os.getcwd(), network, *seen]
said += sorted(name for name in os.environ if name.startswith("LGBENCH"))
with open(os.environ["REPLY_FILE"], "a") as reply:
    reply.write(" ".join(said) + "\\n")
"""


GREEDY = """
import os, resource, subprocess, time
held = []
def tried(name, act):
    try:
        act()
        held.append(name + " went through")
    except (MemoryError, OSError) as error:
        held.append(name + " " + type(error).__name__)
tried("memory", lambda: bytearray(2 << 30))
def write():
    with open("/workspace/large", "wb") as file:
        for _ in range(200):
            file.write(bytes(1 << 20))
tried("file", write)
size = os.path.getsize("/workspace/large")
os.unlink("/workspace/large")
tried("descriptors", lambda: [held.append for _ in range(2000) if os.open("/dev/null", os.O_RDONLY) < 0])
os.closerange(10, 2000)
held.append("processes " + str(resource.getrlimit(resource.RLIMIT_NPROC)))
with open(os.environ["REPLY_FILE"], "w") as reply:
    reply.write("\\n".join([*held, str(size)]))
"""


def with_harness(kit: Path, name: str) -> None:
    """The kit with a sample harness in place of the example."""
    shutil.rmtree(kit / "harness")
    shutil.copytree(HARNESSES / name, kit / "harness")
    shutil.move(kit / "harness/card.json", kit / "card.json")


def test_the_example_runs_and_the_rule_script_scores(lg, kit, tasks):
    said = lg("run-local", "--tasks", str(tasks), "--limit", "4", "--json")
    assert said.code == 0, said.everything
    assert {(row["ending"], row["left_something"]) for row in said.json["tasks"]} == {("finished", True)}
    with_harness(kit, "rule-script")
    said = lg("run-local", "--tasks", str(tasks), "--limit", "12", "--json")
    assert said.code == 0, said.everything
    assert said.json["successes"] >= 1
    assert max(float(row["score"]) for row in said.json["tasks"]) == 1
    lines = lg("run-local", "--tasks", str(tasks), "--limit", "2").out.splitlines()
    assert len(lines) == 3
    assert "finished" in lines[0]


def test_what_is_inside(lg, kit, tasks, monkeypatch):
    monkeypatch.setenv("LGBENCH_TOKEN", "lgb_secret")
    (kit / "harness/run.py").write_text(SPY)
    several = next(path.parent.name for path in sorted((tasks / "tasks").glob("*/turns")))
    said = lg("run-local", "--tasks", str(tasks), "--only", several, "--seed", "77", "--json")
    assert said.code == 0, said.everything
    reply = (kit / ".lgbench/local/runs" / several / "reply/reply.md").read_text().splitlines()
    turns = len(reply)
    assert turns >= 2
    assert reply == [
        f"{turn} {turns} 77 /workspace ConnectionRefusedError /home/agent" for turn in range(1, turns + 1)
    ]


def reply_of(kit: Path, tasks: Path, *arguments: str, lg) -> list[str]:
    said = lg("run-local", *arguments, "--tasks", str(tasks), "--limit", "1", "--json")
    assert said.code == 0, said.everything
    (row,) = said.json["tasks"]
    return (Path(row["folder"]) / "reply/reply.md").read_text().splitlines()


def test_memory_files_descriptors_and_processes_are_limited(lg, kit, tasks):
    (kit / "harness/run.py").write_text(GREEDY)
    *held, size = reply_of(kit, tasks, lg=lg)
    assert held == ["memory MemoryError", "file OSError", "descriptors OSError", "processes (128, 128)"]
    assert int(size) == 128 * 1024**2


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, since nothing limits root's processes")
def test_processes_of_another_user_stop_at_the_limit():
    forks = "import os\ntry:\n    while True:\n        if not os.fork(): os._exit(len(os.read(0, 1)))\n"
    forks += "except OSError: print('full', flush=True)"
    limited = [box.PRLIMIT, f"--nproc={box.LIMITS['nproc']}", "--", "/usr/bin/python3", "-c", forks]
    with subprocess.Popen(
        limited, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=64_321, group=64_321, extra_groups=[]
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"full\n"
    assert process.returncode == 0


def test_a_packed_bundle_runs_without_its_folder(lg, kit, tasks):
    assert lg("check").code == 0
    bundle = shutil.move(kit / ".lgbench/bundle.tar.gz", kit / "mine.tar.gz")
    shutil.rmtree(kit / "harness")
    (kit / "card.json").unlink()
    assert reply_of(kit, tasks, str(bundle), lg=lg)
    Path(bundle).write_bytes(Path(bundle).read_bytes()[:100])
    said = lg("run-local", str(bundle), "--tasks", str(tasks))
    assert (said.code, "package_" in said.out) == (4, True)
    assert lg("run-local", "absent.tar.gz", "--tasks", str(tasks)).code == 2


def test_one_that_crashes_and_one_that_never_ends(lg, kit, tasks):
    (kit / "harness/run.py").write_text("raise SystemExit(3)\n")
    said = lg("run-local", "--tasks", str(tasks), "--limit", "2", "--json")
    assert (said.code, said.json["crashed"]) == (4, 2)
    manifest = kit / "harness/harness.toml"
    manifest.write_text(manifest.read_text().replace("seconds = 60", "seconds = 1"))
    (kit / "harness/run.py").write_text("import time\nwhile True: time.sleep(1)\n")
    said = lg("run-local", "--tasks", str(tasks), "--limit", "1", "--json")
    assert [row["ending"] for row in said.json["tasks"]] == ["budget_exhausted"]


def test_what_is_no_folder_of_tasks(lg, kit, monkeypatch):
    said = lg("run-local", "--tasks", str(kit))
    assert (said.code, "tasks_unusable" in said.err) == (2, True)
    monkeypatch.setattr("shutil.which", lambda name: None)
    said = lg("run-local", "--tasks", str(kit))
    assert (said.code, "no_sandbox" in said.err) == (2, True)
