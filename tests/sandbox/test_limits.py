"""Every declared limit is stated in the manifest, and a probe measures it within 10 %."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation.sandbox import selftest
from evaluation.sandbox.spec import MIB, Ending, Limits, Outcome
from tests.sandbox.conftest import on_both

pytestmark = pytest.mark.serial
PROBES = (Path(selftest.__file__).parent / "probes/limits.py").read_text()
LIMITS = Limits(
    seconds=1.0, memory_bytes=256 * MIB, pids=40, workspace_bytes=48 * MIB, file_bytes=20 * MIB, stdout_bytes=100_000,
    nofile=100, cpus=0.5,
)  # fmt: skip


def measure(bench, *arguments: str) -> tuple[dict[str, Any], Outcome]:
    outcome = bench.run(
        PROBES, command=("python3", "/harness/run.py", *arguments), limits=replace(LIMITS, seconds=10)
    )
    figures: dict[str, Any] = {}
    for line in outcome.stdout.splitlines():
        if b"{" in line:
            figures |= json.loads(line[line.find(b"{") :])
    return figures, outcome


@pytest.mark.case("H20")
@on_both
def test_counts_and_sizes(bench) -> None:
    figures, outcome = measure(bench, "counts")
    manifest = outcome.manifest
    assert figures["descriptors"] == pytest.approx(manifest["nofile"], rel=0.1) == pytest.approx(100, rel=0.1)
    assert figures["processes"] == pytest.approx(manifest["pids"], rel=0.1) == pytest.approx(40, rel=0.1)
    for place, key in (("/workspace", "workspace_bytes"), ("/tmp", "tmp_bytes"), ("/dev/shm", "shm_bytes")):
        figures, outcome = measure(bench, "disk", place)
        assert figures["total"] == pytest.approx(outcome.manifest[key], rel=0.1)
        assert figures["file_bytes"] == pytest.approx(outcome.manifest["file_bytes"], rel=0.1)


@pytest.mark.case("H20")
@on_both
def test_memory(bench) -> None:
    _, outcome = measure(bench, "memory")
    assert outcome.stdout.count(b"m") * MIB == pytest.approx(outcome.manifest["memory_bytes"], rel=0.1)
    if outcome.manifest["memory_bound"] == "cgroup":
        assert outcome.ending is Ending.LIMIT_EXCEEDED
        assert outcome.limit_hits == ("memory",)
        assert outcome.oom_kills > 0


@pytest.mark.case("H20")
@on_both
def test_seconds_and_output(bench) -> None:
    began = time.monotonic()
    outcome = bench.run("import sys\nwhile True: sys.stdout.write('x' * 5000)", limits=LIMITS)
    assert time.monotonic() - began < 1.6
    assert (
        outcome.seconds == pytest.approx(outcome.manifest["seconds"], rel=0.1) == pytest.approx(1.0, rel=0.1)
    )
    assert len(outcome.stdout) == outcome.manifest["stdout_bytes"] == 100_000
    assert outcome.stdout_truncated
    assert not outcome.stderr_truncated


@pytest.mark.case("H20")
def test_cpus(bench) -> None:
    figures, outcome = measure(bench, "cpu")
    if outcome.manifest["cpus_bound"] == "none":
        pytest.skip("no control group: the manifest says so")
    assert figures["cpu"] <= figures["wall"] * outcome.manifest["cpus"] * 1.1 + 0.1


def test_an_out_of_memory_kill_counts_even_with_exit_code_0(bench) -> None:
    code = (
        "import os\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    x = bytearray(b'x') * (400 << 20)\n"
        "    os._exit(0)\n"
        "print(os.waitpid(pid, 0)[1] != 0)\n"
    )
    outcome = bench.run(code, limits=replace(LIMITS, seconds=10))
    if outcome.manifest["memory_bound"] != "cgroup":
        pytest.skip("no control group")
    assert (outcome.ending, outcome.exit_code) == (Ending.LIMIT_EXCEEDED, 0)


@pytest.mark.case("H7")
@pytest.mark.parametrize("gigabytes", [0.5, pytest.param(5, marks=pytest.mark.slow)])
def test_a_flood_of_output_and_a_huge_artefact_are_capped_and_marked(bench, gigabytes) -> None:
    """Neither memory nor disk of the worker grows with what a harness prints or writes."""
    code = (
        f"import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nblock = b'x' * (1 << 20)\n"
        f"for _ in range(int({gigabytes} * 1024)):\n    os.write(1, block); os.write(2, block[:9])\n"
        f"out = open('huge', 'wb', buffering=0)\n"
        f"try:\n    for _ in range(int({gigabytes} * 1024)): out.write(block)\nexcept OSError: pass\n"
        f"open('sparse', 'wb').truncate({LIMITS.file_bytes})\n"
        f"open('result.csv', 'w').write('done')\n"
    )
    before = _peak(bench)
    outcome = bench.run(code, limits=replace(LIMITS, seconds=60, snapshot_bytes=MIB), budget_seconds=60.0)
    assert outcome.stdout_truncated
    assert len(outcome.stdout) == 100_000
    assert outcome.ending is Ending.LIMIT_EXCEEDED
    assert "file" in outcome.limit_hits
    assert outcome.snapshot_truncated
    assert {"size huge", "size sparse"} <= set(outcome.refused)
    assert outcome.snapshot.stat().st_size < 2 * MIB
    assert _peak(bench) - before < 64 * MIB


def _peak(bench) -> int:
    import psutil  # type: ignore[import-untyped]

    bench.backend.keeper()
    return (
        psutil.Process().memory_info().rss
        + psutil.Process(bench.backend.keeper().process.pid).memory_info().rss
    )
