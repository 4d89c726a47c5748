"""Acceptance 7: from inside there is no way out, for agent and grader; and the proof can fail."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.sandbox import handle, masks, runtime, selftest
from evaluation.sandbox.selftest import Result, SelfTestReport

pytestmark = pytest.mark.serial

NETWORK = {"tcp", "udp_and_dns", "ipv6", "icmp_and_raw", "socket_families", "netlink_protocols", "interfaces"}
NETWORK |= {"unix_sockets_of_the_host"}
KERNEL = {"kernel_settings_read_only", "system_calls", "privileges"}
LEAKS = {"environment", "descriptors", "processes_of_the_host", "neutral_names"}
LEAKS |= {"counters_of_the_host", "shared_files"}
FILES = {"files_of_the_host", "nothing_else_writable", "sizes"}


@pytest.fixture(scope="module")
def report(copies: runtime.Runtime) -> SelfTestReport:
    return selftest.run(copies)


@pytest.mark.acceptance("main-job:7")
@pytest.mark.case("H30")
@pytest.mark.case("G34")
@pytest.mark.parametrize("where", ["agent", "grader"])
def test_nothing_gets_out(report, where) -> None:
    answers = {probe.name: probe for probe in report.probes if probe.where == where}
    assert NETWORK | KERNEL | LEAKS | FILES | {"deadline"} <= set(answers)
    assert [probe for probe in answers.values() if probe.result is Result.FAIL] == []


@pytest.mark.acceptance("main-job:7")
def test_the_report_says_what_it_is_worth(report) -> None:
    assert report.fit
    assert report.grade == "embedded, not the official root"
    assert report.seconds < 20  # 2.5 s on an idle machine
    assert json.loads(json.dumps(report.as_json()))["fit"] is True
    assert any(probe.name == "kernel_uid" and probe.result is Result.PASS for probe in report.probes)


WEAK = """#!{python} -IS
import os, sys
fd = int(sys.argv[2])
parts = b"".join(iter(lambda: os.read(fd, 65536), b"")).split(b"\\0")[:-1]
for option, size in {dropped!r}:
    while option.encode() in parts:
        place = parts.index(option.encode())
        del parts[place : place + size]
parts[:0] = {added!r}
args = os.memfd_create("args")
os.write(args, b"".join(part + b"\\0" for part in parts))
os.lseek(args, 0, 0)
os.set_inheritable(args, True)
os.execve({bwrap!r}, ["bwrap", "--args", str(args), *sys.argv[3:]], {{}})
"""


def weakened(place: Path, dropped: list[tuple[str, int]], added: list[bytes]) -> str:
    """A bwrap that leaves out some options: `dropped` are (option, how many arguments with it)."""
    tool = place / "bwrap"
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    tool.write_text(WEAK.format(python=python, dropped=dropped, added=added, bwrap=shutil.which("bwrap")))
    tool.chmod(0o755)
    return str(tool)


@pytest.mark.acceptance("main-job:7")
@pytest.mark.parametrize(
    ("dropped", "added", "caught"),
    [
        ([("--seccomp", 2)], [], {"system_calls", "socket_families", "privileges", "shared_files"}),
        ([("--remount-ro", 2)], [], {"nothing_else_writable"}),
        ([("--hostname", 2)], [], {"neutral_names"}),
        ([("--size", 2)], [], {"sizes"}),
        ([], [b"--ro-bind", b"/var", b"/var"], {"files_of_the_host"}),
        ([], [b"--setenv", b"SECRET_OF_THE_HOST", b"1"], {"environment"}),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, set) else "",
)
def test_a_hole_is_found(copies, open_dir, dropped, added, caught) -> None:
    """The self-test is worth something only if it fails where a sandbox is weaker than it should be."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("needs a Python of the system to wrap the tool")
    probes = selftest.isolation(copies, weakened(open_dir, dropped, added))
    for where in ("agent", "grader"):
        assert caught <= {
            probe.name for probe in probes if probe.where == where and probe.result is Result.FAIL
        }


@pytest.mark.acceptance("main-job:7")
def test_a_network_that_is_the_hosts_is_found(copies, monkeypatch) -> None:
    hole = "from evaluation.sandbox import kernel; kernel.CLONE_NEWNET = 0; from evaluation.sandbox.keeper"
    monkeypatch.setattr(handle, "_BOOT", handle._BOOT.replace("from evaluation.sandbox.keeper", hole))
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    probes = selftest.isolation(copies, bwrap)
    for where in ("agent", "grader"):
        failed = {probe.name for probe in probes if probe.where == where and probe.result is Result.FAIL}
        assert {"tcp", "unix_sockets_of_the_host"} <= failed


@pytest.mark.acceptance("main-job:7")
def test_two_sandboxes_that_can_tell_are_found(copies, open_dir) -> None:
    """Without the filter the locks of one show in the other, and so does its reading of a file."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("needs a Python of the system to wrap the tool")
    probes = selftest.isolation(copies, weakened(open_dir, [("--seccomp", 2)], []))
    found = next(probe for probe in probes if probe.name == "two_sandboxes")
    assert found.result is Result.FAIL
    for trace in ("flock on /usr/bin/env", "posix lock on", "ofd lock on", "access to"):
        assert trace in found.detail


def test_a_counter_that_shows_is_found(copies, monkeypatch) -> None:
    whole = masks.covers()
    monkeypatch.setattr(masks, "covers", lambda: {n: s for n, s in whole.items() if n != "loadavg"})
    load = masks.contents()["loadavg"]
    monkeypatch.setattr(masks, "expected", lambda limits: {"/proc/loadavg": load})
    bwrap = shutil.which("bwrap")
    assert bwrap is not None
    failed = {probe.name for probe in selftest.isolation(copies, bwrap) if probe.result is Result.FAIL}
    assert failed == {"counters_of_the_host"}


def test_a_missing_tool_makes_a_worker_unfit(copies) -> None:
    found = selftest.run(copies, "/no/such/tool")
    assert not found.fit
    assert found.probes[0].name == "start"


MARKED = """
import os, pathlib
seen = []
for path in ["/proc/self/environ", "/proc/1/environ", "/proc/1/cmdline", "/proc/self/mountinfo", "/proc/self/maps",
             "/proc/keys", "/proc/cmdline", "/proc/self/auxv", "/proc/self/stack"]:
    try: seen.append(open(path, "rb").read())
    except OSError: pass
for top in ("/etc", "/harness", "/task", "/tmp", "/home", "/reply", "/workspace", "/dev/shm", "/opt/python/bin"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = pathlib.Path(folder, name)
            try: seen.append(name.encode() + (b"" if path.is_symlink() else path.read_bytes()))
            except OSError: pass
print(b"MARKER-" + b"OF-THE-PLATFORM" in b"".join(seen), len(seen) > 10)
"""


@pytest.mark.case("H29")
def test_no_secret_of_the_platform_is_inside(bench, copies, tmp_path, monkeypatch) -> None:
    """A marker in the worker's environment, its files and its home is nowhere inside."""
    from evaluation.sandbox.bubblewrap import Backend

    marker = "MARKER-OF-THE-PLATFORM"
    for name in ("SECRET_KEY", "DATABASE_URL", "S3_SECRET_KEY", "VAULT_KEY_SEALED"):
        monkeypatch.setenv(name, marker)
    (tmp_path / "secrets.json").write_text(marker)
    held = os.open(tmp_path / "secrets.json", os.O_RDONLY)
    os.set_inheritable(held, True)
    backend = Backend(copies)
    try:
        outcome = replace(bench, backend=backend).run(MARKED)
    finally:
        os.close(held)
        backend.close()
    assert outcome.stdout == b"False True\n", outcome
    assert marker.encode() not in outcome.stderr
