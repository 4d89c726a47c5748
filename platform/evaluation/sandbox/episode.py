"""One episode in its own process: stage, turns, snapshot. Answers with plain data for `Outcome`."""

from __future__ import annotations

import errno
import io
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evaluation.sandbox import files, masks, rootfs
from evaluation.sandbox.box import Box, Ended, Host
from evaluation.sandbox.cgroups import Group, Hierarchy
from evaluation.sandbox.control import BACKLOG, PORT
from evaluation.sandbox.kernellog import KernelLog
from evaluation.sandbox.measures import Clock, Output, Streams
from evaluation.sandbox.spec import REPLY_BYTES, Ending, HostDiskFull, Kind, Limits
from evaluation.sandbox.stage import Identity, Stage, enter_namespace, is_full

SNAPSHOT = "snapshot.tar"
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS})
_FOLDERS = ("workspace", "home", "reply")


@dataclass(slots=True)
class Episode:
    """State of one attempt while it runs; `request` is the worker's message (see `bubblewrap`)."""

    request: dict[str, Any]
    blobs: list[bytes]
    host: Host
    hierarchy: Hierarchy
    watch: int
    started: Callable[[int], None]
    listening: Callable[[socket.socket], None]
    limits: Limits = field(init=False)
    streams: Streams = field(init=False)
    hits: dict[str, None] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    turn: int = 0
    exit_code: int | None = 0
    uid: int = -1
    kernel_log: KernelLog = field(default_factory=KernelLog)

    def __post_init__(self) -> None:
        self.limits = Limits(**self.request["limits"])
        self.streams = Streams(Output(self.limits.stdout_bytes), Output(self.limits.stdout_bytes))

    def run(self) -> tuple[dict[str, Any], list[bytes]]:
        """Run every turn and return (answer, blobs: stdout, stderr, reply)."""
        group = self.hierarchy.make(f"e-{os.getpid()}", self.limits, self.host.besides)
        workdir = os.open(self.request["workdir"], os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            identity = enter_namespace(self.host.drop_uid)
            self.uid = identity.owner
            stage = self._prepare(identity)
            host = replace(self.host, drop_uid=identity.drop_uid)
            box = Box(host, self.limits, group, self.watch, self.started, Clock())
            if self.request["listen"]:
                with self._listen(stage, box) as listener:
                    self.listening(listener)
            if self.request["root"]:
                box.opening = rootfs.opening(self.request["command"][0])
            overdue = self._play(stage, box, group)
            return self._answer(stage, workdir, overdue, group)
        finally:
            os.close(workdir)
            if group is not None:
                group.kill(2.0)
                group.remove()

    def _listen(self, stage: Stage, box: Box) -> socket.socket:
        """The listener that the worker serves: in the network of the sandbox, or (gVisor) where its relay leads to."""
        if box.host.kind is Kind.BUBBLEWRAP:
            return socket.create_server(("127.0.0.1", PORT), backlog=BACKLOG)
        box.gateway = stage.folder("gateway")
        place = box.gateway / "socket"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(place))
        listener.listen(BACKLOG)
        place.chmod(0o666)
        return listener

    def _prepare(self, identity: Identity) -> Stage:
        """Texts of turn 1, the harness and the workspace, in place and owned by the sandbox's uid."""
        source = self.request["workspace_tar"]
        wanted = ("python", "masks", "harness", "root")
        binds = {name: Path(self.request[name]) for name in wanted if self.request[name]}
        # Opened before the stage covers a directory it may lie in.
        with Path(source).open("rb") if source else io.BytesIO(self.blobs[-1]) as workspace:
            stage = Stage(binds)
            stage.folder("task")
            stage.folder("task/turns")
            stage.write("meminfo", masks.meminfo(self.limits).encode())
            stage.write("task/instruction.md", self.blobs[0])
            stage.limited("files", self.limits.workspace_bytes)
            for name in _FOLDERS:
                stage.folder(f"files/{name}", identity.owner)
            target = stage.path("files/workspace")
            files.unpack(workspace, target, identity.owner, max_bytes=self.limits.workspace_bytes)
        return stage

    def _play(self, stage: Stage, box: Box, group: Group | None) -> bool:
        """Start the command once per turn; True when the time ran out.

        A turn that ends with an error does not end the episode: the next one is a start of its own. A
        limit that bit does, because the next turn could not be trusted to start.
        """
        turns = 1 + len(self.blobs) - 2
        budget = min(self.request["budget_seconds"], self.limits.seconds)
        for self.turn in range(1, turns + 1):
            if self.turn > 1:
                stage.write(f"task/turns/turn_{self.turn}.md", self.blobs[self.turn - 1])
            for name in _FOLDERS:
                stage.path(f"files/{name}").chmod(0o755)
            left = max(0.0, budget - self.seconds)
            ended = box.run(self._arguments(stage, turns), tuple(self.request["command"]), left, self.streams)
            self.seconds += ended.seconds
            self.cpu_seconds += ended.cpu_seconds
            self._note(ended, stage, group)
            if ended.overdue or self.hits:
                return ended.overdue
        return False

    def _arguments(self, stage: Stage, turns: int) -> list[str]:
        root = stage.path("root") if self.request["root"] else None
        arguments = rootfs.base_arguments(stage.root, self.request["covers"], root)
        arguments += ["--ro-bind", str(stage.path("harness")), "/harness"]
        arguments += ["--ro-bind", str(stage.path("task")), "/task"]
        for name, inside in zip(_FOLDERS, ("/workspace", rootfs.HOME, "/reply"), strict=True):
            arguments += ["--bind", str(stage.path(f"files/{name}")), inside]
        variables = (
            self.request["environment"]
            | rootfs.environment()
            | {
                "EPISODE_SEED": str(self.request["seed"]),
                "TURN": str(self.turn),
                "TURNS": str(turns),
                "REPLY_FILE": "/reply/reply.md",
                "BUDGET_SECONDS": f"{self.request['budget_seconds']:g}",
                "BUDGET_STEPS": str(self.request["budget_steps"]),
                "BUDGET_TOKENS": str(self.request["budget_tokens"]),
                **self.request["variables"],
            }
        )
        return arguments + rootfs.closing_arguments(variables, "/workspace")

    def _note(self, ended: Ended, stage: Stage, group: Group | None) -> None:
        """Record exit code and the limits that bit, both seen from outside."""
        if ended.exit_code is None:
            self.exit_code = None
        elif self.exit_code == 0:
            self.exit_code = ended.exit_code
        if ended.out_of_memory:
            self.hits["memory"] = None
        if group is not None and group.pids_refused():
            self.hits["pids"] = None
        if is_full(stage.path("files")):
            self.hits["disk"] = None

    def _answer(
        self, stage: Stage, workdir: int, overdue: bool, group: Group | None
    ) -> tuple[dict[str, Any], list[bytes]]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(SNAPSHOT, flags, 0o600, dir_fd=workdir), "wb") as out:
                found = files.take(stage.path("files/workspace"), out, max_bytes=self.limits.snapshot_bytes)
        except OSError as fault:
            if fault.errno in _DISK:
                raise HostDiskFull("no room for the snapshot") from fault
            raise
        if found.largest >= self.limits.file_bytes:
            self.hits["file"] = None
        reply, reply_truncated = files.read_regular(stage.path("files/reply/reply.md"), REPLY_BYTES)
        answer = {
            "ending": self._ending(overdue).value,
            "which_budget": "seconds" if overdue else None,
            "exit_code": self.exit_code,
            "turn": self.turn,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "stdout_truncated": self.streams.out.truncated,
            "stderr_truncated": self.streams.err.truncated,
            "snapshot_truncated": found.truncated,
            "wrote": found.wrote,
            "has_reply": reply is not None,
            "reply_truncated": reply_truncated,
            "refused": found.lines(),
            "limit_hits": list(self.hits),
            "oom_kills": group.oom_kills() if group else 0,
            "signals": self._signals(found, group),
        }
        return answer, [bytes(self.streams.out.kept), bytes(self.streams.err.kept), reply or b""]

    def _signals(self, found: files.Snapshot, group: Group | None) -> dict[str, int]:
        """What the host counted, by the names of `spec.SIGNALS`, without what is 0."""
        counts = {
            "oom_kills": group.oom_kills() if group else 0,
            "processes_refused": group.pids_refused() if group else 0,
            "file_system_full": int("disk" in self.hits),
            "artefacts_refused": len(found.refused) + found.more_refused,
            "killed_by_filter": self.kernel_log.kills_of(self.uid),
        }
        return {name: count for name, count in counts.items() if count}

    def _ending(self, overdue: bool) -> Ending:
        """Time first, then limits, then the exit code; nothing the harness printed has a say."""
        if overdue:
            return Ending.BUDGET_EXHAUSTED
        if self.hits:
            return Ending.LIMIT_EXCEEDED
        return Ending.CRASHED if self.exit_code != 0 else Ending.FINISHED
