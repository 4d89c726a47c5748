"""One grading run in its own process: the platform's grader, the rules, a copy of regular files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

from evaluation.sandbox import files, masks, rootfs
from evaluation.sandbox.box import Box, Ended, Host
from evaluation.sandbox.cgroups import Group, Hierarchy
from evaluation.sandbox.measures import Output, Streams
from evaluation.sandbox.spec import MIB, Limits
from evaluation.sandbox.stage import Stage, enter_namespace

REWARD_BYTES = 4 * MIB
# By its path: finding a module by name would cost more than the whole start.
GRADER = ("python3", "-I", "-S", "/opt/grader/evaluation/grader/__main__.py")


@dataclass(slots=True)
class Grading:
    """One request. Blobs: rules, reply, then the scripts in the order of `request["scripts"]`."""

    request: dict[str, Any]
    blobs: list[bytes]
    host: Host
    hierarchy: Hierarchy
    watch: int
    started: Callable[[int], None]

    def run(self) -> tuple[dict[str, Any], list[bytes]]:
        """Grade and return (answer, blobs: reward, stdout, stderr)."""
        limits = Limits(**self.request["limits"])
        group = self.hierarchy.make(f"e-{os.getpid()}", limits, self.host.besides)
        streams = Streams(Output(limits.stdout_bytes), Output(limits.stdout_bytes))
        try:
            with Path(self.request["snapshot"]).open("rb") as snapshot:
                stage, ended = self._run(limits, snapshot, group, streams)
            reward, oversized = files.read_regular(stage.path("files/out/reward.json"), REWARD_BYTES)
        finally:
            if group is not None:
                group.kill(2.0)
                group.remove()
        fault = _fault(ended, reward is None or oversized)
        answer = {"fault": fault, "exit_code": ended.exit_code, "seconds": ended.seconds}
        return answer, [b"" if fault else reward or b"", bytes(streams.out.kept), bytes(streams.err.kept)]

    def _run(
        self, limits: Limits, snapshot: IO[bytes], group: Group | None, streams: Streams
    ) -> tuple[Stage, Ended]:
        identity = enter_namespace(self.host.drop_uid)
        stage = Stage({name: Path(self.request[name]) for name in ("python", "masks", "grader")})
        stage.write("meminfo", masks.meminfo(limits).encode())
        self._prepare(stage, limits, snapshot)
        out = stage.folder("files/out", identity.owner)
        arguments = rootfs.base_arguments(stage.root, self.request["covers"])
        arguments += ["--ro-bind", str(stage.path("grader")), "/opt/grader"]
        arguments += ["--ro-bind", str(stage.path("files/grade")), "/grade"]
        arguments += ["--bind", str(out), "/grade/out"]
        variables = rootfs.environment() | {"HOME": "/tmp"}  # noqa: S108 (inside)
        arguments += rootfs.closing_arguments(variables, "/grade/run/workspace")
        box = Box(
            replace(self.host, drop_uid=identity.drop_uid),
            limits,
            group,
            self.watch,
            self.started,
        )
        return stage, box.run(arguments, tuple(self.request["command"]), self.request["seconds"], streams)

    def _prepare(self, stage: Stage, limits: Limits, snapshot: IO[bytes]) -> None:
        """The tree the grader reads, on a tmpfs of its own; owned by us, so read-only for the grader."""
        stage.limited("files", limits.workspace_bytes)
        for name in ("grade", "grade/scripts", "grade/run", "grade/run/workspace", "grade/out"):
            stage.folder(f"files/{name}")
        workspace = stage.path("files/grade/run/workspace")
        files.unpack(snapshot, workspace, os.geteuid(), max_bytes=limits.workspace_bytes, plain=True)
        stage.write("files/grade/rules.json", self.blobs[0])
        if self.request["has_reply"]:
            stage.write("files/grade/run/reply.md", self.blobs[1])
        for name, content in zip(self.request["scripts"], self.blobs[2:], strict=True):
            stage.write(f"files/grade/scripts/{PurePosixPath(name).name}", content)


def _fault(ended: Ended, no_reward: bool) -> str | None:
    """The technical fault, if any; a forged or half-written reward never counts."""
    if ended.overdue:
        return "grader_overdue"
    if ended.out_of_memory:
        return "grader_limit"
    if ended.exit_code != 0:
        return "grader_exit"
    return "no_reward" if no_reward else None
