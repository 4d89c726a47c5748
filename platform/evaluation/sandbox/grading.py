"""One grading run in its own process: the platform's grader, the rules, a copy of regular files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluation.sandbox import files, rootfs
from evaluation.sandbox.box import Box, Host, Output
from evaluation.sandbox.cgroups import Hierarchy
from evaluation.sandbox.spec import MEMORY_HEADROOM, MIB, Limits
from evaluation.sandbox.stage import Stage, enter_namespace

REWARD_BYTES = 4 * MIB
LIMITS = Limits(
    memory_bytes=1024 * MIB, pids=64, workspace_bytes=512 * MIB, file_bytes=256 * MIB, stdout_bytes=64 << 10
)
assert LIMITS.memory_bytes >= LIMITS.workspace_bytes + MEMORY_HEADROOM
_START = "import sys; sys.path.insert(0, '/opt/grader'); import runpy; runpy._run_module_as_main('evaluation.grader')"
GRADER = ("python3", "-I", "-S", "-c", _START)


def grade(
    request: dict[str, Any],
    blobs: list[bytes],
    host: Host,
    hierarchy: Hierarchy,
    watch: int,
    started: Callable[[int], None],
) -> tuple[dict[str, Any], list[bytes]]:
    """Grade and return (answer, blobs: reward, stdout, stderr). Blobs in: rules, reply, then scripts by name."""
    snapshot = Path(request["snapshot"]).read_bytes()
    group = hierarchy.make(f"e-{os.getpid()}", LIMITS)
    try:
        identity = enter_namespace()
        stage = Stage({"python": Path(request["python"]), "grader": Path(request["grader"])})
        for name in ("grade", "grade/scripts", "grade/run", "grade/out"):
            stage.folder(name)
        workspace = stage.limited("grade/run/workspace", LIMITS.workspace_bytes)
        files.unpack(snapshot, workspace, os.geteuid(), max_bytes=LIMITS.workspace_bytes)
        stage.write("grade/rules.json", blobs[0])
        if request["has_reply"]:
            stage.write("grade/run/reply.md", blobs[1])
        for name, content in zip(request["scripts"], blobs[2:], strict=True):
            stage.write(f"grade/scripts/{os.path.basename(name)}", content)
        stage.folder("reward", identity.owner)
        arguments = rootfs.base_arguments(stage.path("python"))
        arguments += ["--ro-bind", str(stage.path("grader")), "/opt/grader"]
        arguments += ["--ro-bind", str(stage.path("grade")), "/grade"]
        arguments += ["--bind", str(stage.path("reward")), "/grade/out"]
        arguments += rootfs.closing_arguments(rootfs.environment() | {"HOME": "/tmp"}, "/grade/run/workspace")
        out, err = Output(LIMITS.stdout_bytes), Output(LIMITS.stdout_bytes)
        box = Box(Host(host.bwrap, host.filter, identity.drop_uid), LIMITS, group, watch, started)
        ended = box.run(arguments, tuple(request["command"]), request["seconds"], out, err)
        reward, oversized = files.read_regular(stage.path("reward/reward.json"), REWARD_BYTES)
    finally:
        if group is not None:
            group.kill(2.0)
            group.remove()
    fault = _fault(ended.overdue, ended.out_of_memory, ended.exit_code, reward is None or oversized)
    answer = {"fault": fault, "exit_code": ended.exit_code, "seconds": ended.seconds}
    return answer, [b"" if fault else reward or b"", bytes(out.kept), bytes(err.kept)]


def _fault(overdue: bool, out_of_memory: bool, exit_code: int | None, no_reward: bool) -> str | None:
    """The technical fault, if any; a forged or half-written reward never counts."""
    if overdue:
        return "grader_overdue"
    if out_of_memory:
        return "grader_limit"
    if exit_code != 0:
        return "grader_exit"
    return "no_reward" if no_reward else None
