"""Running a task's check script: own process, own deadline, own limits.

The script is called with the workspace and the reply file ("" where there is none) and prints one JSON object
{"score": "0.5"} with a score from 0 to 1.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path

from evaluation.grader.faults import ScriptFailed, ScriptFault

SECONDS = 10
MEMORY_BYTES = 1024 * 1024 * 1024
OUTPUT_BYTES = 64 * 1024
_FILES = 64


def run_script(script: Path, workspace: Path, reply: Path | None, *, seconds: float = SECONDS) -> Decimal:
    """Run one check script and return its score; raises ScriptFailed, or ScriptFault where there is none."""
    if not script.is_file():
        raise ScriptFault(f"{script.name}: no such script")
    output = os.memfd_create("check-output", os.MFD_CLOEXEC)
    try:
        code = _run([str(script), str(workspace), str(reply or "")], output, workspace, seconds)
        os.lseek(output, 0, os.SEEK_SET)
        printed = os.read(output, OUTPUT_BYTES + 1)
    finally:
        os.close(output)
    if code != 0:
        raise ScriptFailed(f"{script.name}: ended with {code}")
    return _score(printed, script.name)


def _run(arguments: list[str], output: int, folder: Path, seconds: float) -> int:
    with subprocess.Popen(
        [sys.executable, "-S", "-I", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        start_new_session=True,
        preexec_fn=_limit,  # noqa: PLW1509 - the grader has one thread
    ) as process:
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise ScriptFailed(f"{Path(arguments[0]).name}: ran longer than {seconds} s") from None
        finally:
            _kill_group(process.pid)


def _limit() -> None:
    """In the child: memory, processor time, output and descriptors; no core file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES * 2, OUTPUT_BYTES * 2))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, _FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _score(printed: bytes, name: str) -> Decimal:
    try:
        data = json.loads(printed)
        score = Decimal(data["score"]) if isinstance(data["score"], str) else Decimal("NaN")
    except (ValueError, KeyError, TypeError, InvalidOperation, RecursionError):
        raise ScriptFailed(f"{name}: printed no score") from None
    if not score.is_finite() or not 0 <= score <= 1:
        raise ScriptFailed(f"{name}: printed a score outside 0 to 1")
    return score
