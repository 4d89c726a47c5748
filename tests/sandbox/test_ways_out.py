"""Forty ways out of a sandbox, tried from inside an agent's and a grader's on both backends. None leads anywhere."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluation.sandbox import runtime, selftest
from evaluation.sandbox.spec import Ending, Kind
from tests.sandbox.conftest import Bench, made

pytestmark = [pytest.mark.serial, pytest.mark.timeout(240)]

# Each is an expression that is true, or a function that returns, only where the way leads out. B is the bait.
WAYS = r"""
tcp_public            = lambda: connect(2, ("1.1.1.1", 443))
tcp_metadata          = lambda: connect(2, ("169.254.169.254", 80))
tcp_private           = lambda: connect(2, ("10.0.0.1", 22))
tcp_of_the_host       = lambda: connect(2, ("127.0.0.1", B["port"]))
tcp6_public           = lambda: connect(10, ("2606:4700:4700::1111", 443))
tcp6_of_the_host      = lambda: connect(10, ("::1", B["port"]))
udp_name_server       = lambda: send(2, ("8.8.8.8", 53))
udp_broadcast         = lambda: send(2, ("255.255.255.255", 9))
name_lookup           = lambda: socket.getaddrinfo("example.com", 80)
raw_socket            = lambda: socket.socket(2, 3, 255)
raw_ping              = lambda: socket.socket(2, 3, 1)
packet_socket         = lambda: socket.socket(17, 3, 0x0300)
vsock                 = lambda: socket.socket(40, 1, 0)
kernel_crypto_socket  = lambda: socket.socket(38, 5, 0)
bluetooth_socket      = lambda: socket.socket(31, 3, 1)
docker_socket         = lambda: connect(1, "/var/run/docker.sock")
containerd_socket     = lambda: connect(1, "/run/containerd/containerd.sock")
socket_file           = lambda: connect(1, B["socket"])
abstract_socket       = lambda: connect(1, "\0" + B["abstract"])
secret_by_its_path    = lambda: open(B["secret"]).read()
secret_by_proc_root   = lambda: open("/proc/1/root" + B["secret"]).read()
secret_by_cwd         = lambda: open("/proc/1/cwd/../../.." + B["secret"]).read()
secret_by_a_link      = lambda: (os.symlink(B["secret"], "/workspace/way"), open("/workspace/way").read())
password_hashes       = lambda: open("/etc/shadow").read()
environment_of_init   = lambda: "LINGEE" in open("/proc/1/environ").read() or fail()
marker_in_processes   = lambda: any(MARK in read(p) for p in glob.glob("/proc/[0-9]*/environ")) or fail()
signal_to_the_host    = lambda: os.kill(B["pid"], 9)
trace_of_the_host     = lambda: call("ptrace", 16, B["pid"]) == 0 or fail()
memory_of_the_host    = lambda: open(f"/proc/{B['pid']}/mem", "rb").read(1)
core_pattern          = lambda: open("/proc/sys/kernel/core_pattern", "w").write("|/workspace/out")
module_loader         = lambda: open("/proc/sys/kernel/modprobe", "w").write("/workspace/out")
system_request        = lambda: open("/proc/sysrq-trigger", "w").write("s")
device_memory         = lambda: open("/dev/mem", "rb").read(1)
block_device          = lambda: (os.mknod("/workspace/disk", 0o60666, 0xFE00), open("/workspace/disk", "rb").read(1))
mount                 = lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, 0) == 0 or fail()
host_mounts           = lambda: call("setns", os.open("/proc/1/ns/mnt", 0), 0) == 0 or fail()
file_handle           = lambda: call("open_by_handle_at", -100, bytes(64), 0) >= 0 or fail()
bpf_program           = lambda: call("bpf", 5, bytes(64), 64) >= 0 or fail()
release_agent         = lambda: open("/sys/fs/cgroup/release_agent", "w").write("/workspace/out")
write_what_is_given   = lambda: open(next(p for p in GIVEN if os.path.exists(p)), "a").write("#")
"""
NAMES = [line.split()[0] for line in WAYS.strip().splitlines()]
CODE = r"""
import ctypes, glob, json, os, socket
B = json.loads(BAIT)
MARK = B["marker_reversed"][::-1].encode()
libc = ctypes.CDLL(None, use_errno=True)
GIVEN = ("/harness/run.py", "/grade/rules.json")
def fail(): raise OSError("no way")
def read(path): return open(path, "rb").read()
def call(name, *arguments): return getattr(libc, "syscall")(B["calls"][name], *arguments)
def connect(family, address):
    sock = socket.socket(family, 1); sock.settimeout(0.3); sock.connect(address)
def send(family, address):
    sock = socket.socket(family, 2); sock.setsockopt(1, 6, 1); sock.sendto(b"x", address)
found = {}
for line in WAYS.strip().splitlines():
    name, _, way = line.partition("=")
    try: found[name.strip()] = [True, repr(eval(way.strip().partition(":")[2]))[:80]]
    except Exception as fault: found[name.strip()] = [False, type(fault).__name__ + " " + str(fault)[:60]]
text = json.dumps(found)
if os.path.isdir("/grade/out"): open("/grade/out/reward.json", "w").write(text)
print(text)
"""


@pytest.fixture
def bait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What waits outside: listeners of three kinds, a secret file, a marker in the environment, a living process."""
    from evaluation.sandbox import seccomp

    marker = secrets.token_hex(16)
    monkeypatch.setenv("LINGEE_WAYS_OUT", marker)
    (tmp_path / "secret").write_text(marker)
    (tmp_path / "secret").chmod(0o644)
    sleeper = subprocess.Popen(["sleep", "300"])
    abstract = f"lingee-ways-{secrets.token_hex(8)}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(1) as file, socket.socket(1) as name:
        file.bind(str(tmp_path / "socket"))
        name.bind("\0" + abstract)
        file.listen()
        name.listen()
        yield {
            "port": tcp.getsockname()[1],
            "socket": str(tmp_path / "socket"),
            "abstract": abstract,
            "secret": str(tmp_path / "secret"),
            "pid": sleeper.pid,
            "marker_reversed": marker[::-1],
            "calls": seccomp.numbers(["ptrace", "mount", "setns", "open_by_handle_at", "bpf"]),
        }
        assert sleeper.poll() is None, "the process outside was ended from inside"
    sleeper.send_signal(signal.SIGKILL)
    sleeper.wait()


@pytest.mark.acceptance("fleet:6")
@pytest.mark.case("H29")
@pytest.mark.case("H30")
@pytest.mark.parametrize("kind", list(Kind))
def test_forty_ways_out_lead_nowhere(
    kind: Kind, copies: runtime.Runtime, bait: dict[str, Any], tmp_path: Path
) -> None:
    assert len(NAMES) == len(set(NAMES)) == 40
    code = f"BAIT = {json.dumps(bait)!r}\nWAYS = {WAYS!r}\n{CODE}"
    backend = made(kind, copies)  # started now, with the marker in the environment
    try:
        bench = Bench(backend, tmp_path)
        outcome = bench.run(code, budget_seconds=60.0)
        graded = bench.grade(outcome, "python3", "-I", "-S", "-c", code, seconds=60)
    finally:
        backend.close()
    assert outcome.ending in (Ending.FINISHED, Ending.LIMIT_EXCEEDED), outcome
    for text in (outcome.stdout, graded.reward):
        found = json.loads(text or b"null")
        assert sorted(found) == sorted(NAMES)
        assert {name: said for name, (out, said) in found.items() if out} == {}
    assert Path("/proc/sys/kernel/core_pattern").read_text().find("workspace") < 0
    assert any(line.startswith(("link way", "device disk")) for line in outcome.refused)
    assert outcome.signals["artefacts_refused"] == len(outcome.refused)


def test_the_bait_is_there_for_who_is_outside(bait: dict[str, Any]) -> None:
    """The same attempts from outside succeed: a probe that fails for a reason of its own proves nothing."""
    socket.create_connection(("127.0.0.1", bait["port"])).close()
    for place in (bait["socket"], "\0" + bait["abstract"]):
        with socket.socket(1) as sock:
            sock.connect(place)
    assert Path(bait["secret"]).read_text() == bait["marker_reversed"][::-1] == os.environ["LINGEE_WAYS_OUT"]


@pytest.mark.case("H21")
def test_both_backends_have_the_same_limits(copies: runtime.Runtime, tmp_path: Path) -> None:
    manifests = []
    for kind in Kind:
        backend = made(kind, copies)
        try:
            manifests.append(backend.manifest(Bench(backend, tmp_path).spec("pass")))
        finally:
            backend.close()
    how = {"backend", "isolation", "memory_bound", "pids_bound", "cpus_bound"}
    one, two = ({name: value for name, value in found.items() if name not in how} for found in manifests)
    assert one == two
    assert len(one) > 12


@pytest.mark.case("H1")
@pytest.mark.case("H20")
@pytest.mark.case("H30")
@pytest.mark.slow
def test_gvisor_passes_the_same_self_test(copies: runtime.Runtime) -> None:
    """Every limit measured, a stubborn grandchild gone 2 s after its deadline, nothing out, for agent and grader."""
    made(Kind.GVISOR, copies).close()
    report = selftest.run(copies, kind=Kind.GVISOR)
    assert report.fit, [probe for probe in report.probes if probe.result != "pass"]
    names = {probe.name for probe in report.probes}
    assert {
        "kernel",
        "memory_of_one_process",
        "processes",
        "workspace_bytes",
        "file_bytes",
        "deadline",
        "cpus",
    } <= names
