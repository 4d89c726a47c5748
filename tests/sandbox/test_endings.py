"""How an episode ends, and that only facts seen from outside decide it."""

import shutil
from dataclasses import replace

import pytest

from evaluation.sandbox.spec import MIB, Ending, Limits
from tests.sandbox.conftest import on_both


def test_exit_codes(bench) -> None:
    assert bench.run("pass").ending is Ending.FINISHED
    outcome = bench.run("raise SystemExit(41)")
    assert (outcome.ending, outcome.exit_code) == (Ending.CRASHED, 41)
    outcome = bench.run("import os; os.kill(os.getpid(), 11)")
    assert (outcome.ending, outcome.exit_code) == (Ending.CRASHED, 139)


@pytest.mark.parametrize(
    ("command", "code"),
    [("no-such-command", 127), ("/harness/missing", 127), ("/task/instruction.md", 126), ("/", 126)],
)
def test_a_command_that_cannot_start_is_the_harness_s_own(bench, command, code) -> None:
    outcome = bench.run("pass", command=(command, "x"))
    assert (outcome.ending, outcome.exit_code) == (Ending.CRASHED, code)


@pytest.mark.parametrize("command", [(), ("a\0b",), ("x" * 70_000,), ("好" * 22_000,), ("x" * 50_000,) * 6])
def test_an_impossible_command_is_refused_before_any_run(bench, command) -> None:
    with pytest.raises(ValueError, match="command"):
        bench.spec("pass", command=command)


@pytest.mark.case("H16")
@on_both
def test_words_of_the_harness_do_not_make_a_fault_of_ours(bench) -> None:
    text = "timeout 503 rate limit network bwrap: Creating new namespace failed"
    code = f"import sys; print({text!r}); print({text!r}, file=sys.stderr); sys.exit(1)"
    outcome = bench.run(code)
    assert (outcome.ending, outcome.exit_code, outcome.which_budget) == (Ending.CRASHED, 1, None)


@pytest.mark.case("H4")
@on_both
def test_a_background_sleeper_does_not_hold_the_run(bench) -> None:
    code = (
        "import os, subprocess\n"
        "subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); import time; time.sleep(300)\n"
    )
    outcome = bench.run(code)
    assert outcome.ending is Ending.FINISHED
    assert outcome.seconds < 2


OVERWRITE_PID_1 = """
import os
open("before", "w").write("x")
for number in (9, 15, 19, 6):
    os.kill(1, number)
with open("/proc/1/mem", "r+b", buffering=0) as memory:
    for line in open("/proc/1/maps"):
        place, rights = line.split()[:2]
        if "x" in rights and "[" not in line:
            start, end = (int(part, 16) for part in place.split("-"))
            memory.seek(start)
            memory.write(b"\\xcc" * (end - start))
os.kill(os.getpid(), 9)
"""


@pytest.mark.case("H10")
def test_breaking_pid_1_from_inside_is_the_harness_s_own(bench, snapshot_of) -> None:
    """Never a silent success, and never a fault of ours that would earn another attempt."""
    outcome = bench.run(OVERWRITE_PID_1, budget_seconds=3.0)
    assert outcome.ending is Ending.CRASHED
    assert outcome.exit_code in (133, 137)
    assert snapshot_of(outcome)["before"] == b"x"


@pytest.mark.case("H10")
@on_both
def test_a_full_disk_is_recorded_as_a_limit(bench, snapshot_of) -> None:
    code = (
        "open('result.csv', 'w').write('done')\n"
        "try:\n"
        "    for n in range(99): open(f'fill{n}', 'wb').write(b'x' * (1 << 20))\n"
        "except OSError: pass\n"
    )
    outcome = bench.run(code)
    assert outcome.ending is Ending.LIMIT_EXCEEDED
    assert outcome.limit_hits == ("disk",)
    assert snapshot_of(outcome)["result.csv"] == b"done"
    assert outcome.snapshot_truncated
    assert any(line.startswith("size fill") for line in outcome.refused)


def test_running_out_of_processes_is_a_limit(bench) -> None:
    code = (
        "import os, time\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(9)\nexcept OSError: pass\n"
    )
    if "pids" not in bench.backend.keeper().label:
        pytest.skip("refused forks are counted by the control group")
    assert bench.run(code).limit_hits == ("pids",)


def test_the_longest_command_that_intake_lets_through_starts(bench) -> None:
    code = "import sys; print(len(sys.argv), sum(map(len, sys.argv)), sys.argv[2][0])"
    outcome = bench.run(code, command=("python3", "/harness/run.py", *["x" * 4096] * 61, "好" * 1365))
    assert outcome.stdout.split()[0] == b"63"
    outcome = bench.run(code, command=("python3", "/harness/run.py", "a", "好"))
    assert outcome.stdout.split()[2] == "好".encode()


PID_1_NEVER_ENDS = """
with open("/proc/1/mem", "r+b", buffering=0) as memory:
    for line in open("/proc/1/maps"):
        place, rights = line.split()[:2]
        if "x" in rights and "[" not in line:
            start, end = (int(part, 16) for part in place.split("-"))
            memory.seek(start)
            memory.write(b"\\x90" * (end - start - 2) + b"\\xeb\\xfe")
"""


@pytest.mark.case("H10")
def test_a_command_whose_end_is_never_reported_used_up_its_time(bench) -> None:
    """PID 1 spins for ever while the command has ended: no fault of ours that would earn another attempt."""
    outcome = bench.run(PID_1_NEVER_ENDS, budget_seconds=1.0)
    assert (outcome.ending, outcome.which_budget) == (Ending.BUDGET_EXHAUSTED, "seconds")


def test_ending_around_the_deadline_is_never_a_fault(bench) -> None:
    seen = set()
    for early in range(-3, 9):
        code = f"import os, time; time.sleep({0.15 - early / 200}); os._exit(0)"
        seen.add(bench.run(code, budget_seconds=0.2).ending)
    assert seen <= {Ending.FINISHED, Ending.BUDGET_EXHAUSTED}


def test_a_tool_that_is_killed_while_the_command_runs_is_no_fault(bench, open_dir) -> None:
    """What the kernel may do to it for a harness that takes all memory of a host without control groups."""
    from evaluation.sandbox.bubblewrap import Backend

    tool = open_dir / "bwrap"
    real = shutil.which("bwrap")
    tool.write_text(f'#!/bin/sh\n{real} "$@" & sleep 1; kill -9 $!; kill -9 $$\n')
    tool.chmod(0o755)
    backend = Backend(bench.backend.copies, str(tool))
    try:
        outcome = replace(bench, backend=backend).run("import time; print(1, flush=True); time.sleep(9)")
    finally:
        backend.close()
    assert (outcome.ending, outcome.exit_code) == (Ending.CRASHED, 137)


SLOW_TO_DIE = """
import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
size = {mappings} * 4096
place = libc.mmap(None, ctypes.c_size_t(size), 3, 0x4022, -1, ctypes.c_long(0))
for at in range(0, size, 8192):
    libc.mprotect(ctypes.c_void_p(place + at), 4096, 1)
for _ in range(60):
    if os.fork() == 0: time.sleep(60)
time.sleep(60)
"""


@pytest.mark.parametrize("mappings", [6_000, pytest.param(60_000, marks=pytest.mark.slow)])
def test_mappings_that_take_the_kernel_long_to_undo_are_no_fault(bench, mappings) -> None:
    """The larger number takes about 4 s: longer than a kill should, and still the harness's own doing."""
    limits = Limits(memory_bytes=1024 * MIB)
    outcome = bench.run(SLOW_TO_DIE.format(mappings=mappings), budget_seconds=mappings / 7_500, limits=limits)
    assert outcome.ending is Ending.BUDGET_EXHAUSTED
