"""A sandbox backend as a worker sees it: the interface, and the half that both backends share.

The work is done in a child of this worker's keeper (see `keeper`); this side sends the request, watches
over it with a deadline of its own, and turns the answer into an `Outcome`. Safe to call from threads.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol

from evaluation.sandbox import files, grading, masks, rootfs, runtime, seccomp, spec, stage, wire
from evaluation.sandbox.box import KILL_SECONDS, START_SECONDS
from evaluation.sandbox.control import Control, EpisodeCancelled
from evaluation.sandbox.episode import SNAPSHOT
from evaluation.sandbox.handle import Keeper, Watched
from evaluation.sandbox.spec import (
    REPLY_BYTES,
    Ending,
    GradeOutcome,
    GradeSpec,
    InfrastructureFault,
    KeeperLost,
    Kind,
    Outcome,
    ProtocolFault,
    Root,
    RunSpec,
)

# What staging and the snapshot may take beyond the harness's own time, and each start and kill in addition.
SLACK_SECONDS = 30.0
TURN_SECONDS = START_SECONDS + KILL_SECONDS
# Between two looks at how long the clock was held.
LOOK_SECONDS = 5.0
_FAULTS = {kind.__name__: kind for kind in (*spec.InfrastructureFault.__subclasses__(), files.BadArchive)}


class Backend(Protocol):
    """What makes sandboxes: one interpreter copy, one tool. Both kinds answer alike; calls may come from threads."""

    @property
    def kind(self) -> Kind:
        """Which of the two it is."""
        ...

    @property
    def copies(self) -> runtime.Runtime:
        """The interpreter, the grader and the masks that it shows inside."""
        ...

    def run_episode(self, spec: RunSpec, workdir: Path, control: Control | None = None) -> Outcome:
        """Run one attempt; `workdir` (existing, private to it) receives the snapshot.

        Raises InfrastructureFault when nothing may be scored, EpisodeCancelled where `control` ended it; by then no
        process of the attempt is left.
        """
        ...

    def run_grader(self, spec: GradeSpec, command: tuple[str, ...] = grading.GRADER) -> GradeOutcome:
        """Grade one snapshot in a sandbox of its own; another `command` is for the self-test's probes only.

        Raises InfrastructureFault as `run_episode` does.
        """
        ...

    def manifest(self, spec: RunSpec) -> dict[str, object]:
        """The effective value of every limit, and what enforces it."""
        ...

    @property
    def cgroup(self) -> str:
        """What control groups this host gives, in words."""
        ...

    def isolation(self, root: Root | None) -> str:
        """The isolation grade of a run on this backend and that root."""
        ...

    def close(self) -> None:
        """End every process of this backend; the next call starts others."""
        ...


class KeptBackend(ABC):
    """The half that both backends share: a keeper process, requests to it, answers read.

    What differs is the tool that starts a prepared stage (see `box`) and where limits of memory and processes bite.
    """

    kind: ClassVar[Kind]

    def __init__(self, copies: runtime.Runtime, tool: str) -> None:
        self.copies = copies
        self.tool = os.path.realpath(tool)
        self._filter = seccomp.compile_filter()
        self._common = {
            "python": str(copies.python),
            "masks": str(copies.masks),
            "covers": masks.covers(),
        }
        self._lock = threading.Lock()
        self._keeper: Keeper | None = None

    @abstractmethod
    def isolation(self, root: Root | None) -> str:
        """See `Backend`."""

    @abstractmethod
    def bounds(self, label: str) -> dict[str, str]:
        """What holds memory, processes and processors of all the harness's processes together."""

    @property
    def cgroup(self) -> str:
        """See `Backend`."""
        return self.keeper().label

    def run_episode(self, spec: RunSpec, workdir: Path, control: Control | None = None) -> Outcome:
        """See `Backend`."""
        control = control or Control()
        tar = spec.workspace_tar
        request = {
            "kind": "episode",
            "command": list(spec.command),
            "harness": str(spec.harness_dir.absolute()),
            "root": str(spec.root.path.absolute()) if spec.root else None,
            "environment": dict(spec.root.environment) if spec.root else {},
            "workdir": str(workdir.absolute()),
            "workspace_tar": str(tar.absolute()) if isinstance(tar, Path) else None,
            **self._common,
            "seed": spec.seed,
            "budget_seconds": spec.budget_seconds,
            "budget_steps": spec.budget_steps,
            "budget_tokens": spec.budget_tokens,
            "variables": dict(spec.variables),
            "listen": control.serve is not None,
            "limits": asdict(spec.limits),
        }
        workspace = b"" if isinstance(tar, Path) else tar
        blobs = [spec.instruction, *spec.turns, workspace]
        seconds = min(spec.budget_seconds, spec.limits.seconds) + TURN_SECONDS * (1 + len(spec.turns))
        answer = self._ask(request, blobs, seconds + SLACK_SECONDS, control)
        with _answered():
            return self._outcome(spec, workdir, *answer)

    def _outcome(self, spec: RunSpec, workdir: Path, answer: dict[str, Any], blobs: list[bytes]) -> Outcome:
        stdout, stderr, reply = blobs
        return Outcome(
            ending=Ending(answer["ending"]),
            which_budget=answer["which_budget"],
            exit_code=answer["exit_code"],
            turn=answer["turn"],
            seconds=answer["seconds"],
            stdout=stdout,
            stderr=stderr,
            stdout_truncated=answer["stdout_truncated"],
            stderr_truncated=answer["stderr_truncated"],
            snapshot=Path(workdir) / SNAPSHOT,
            snapshot_truncated=answer["snapshot_truncated"],
            wrote=answer["wrote"],
            reply=reply if answer["has_reply"] else None,
            reply_truncated=answer["reply_truncated"],
            refused=tuple(answer["refused"]),
            limit_hits=tuple(answer["limit_hits"]),
            oom_kills=answer["oom_kills"],
            isolation=self.isolation(spec.root),
            manifest=self.manifest(spec),
            signals={name: int(count) for name, count in answer["signals"].items()},
            cpu_seconds=float(answer["cpu_seconds"]),
        )

    def run_grader(self, spec: GradeSpec, command: tuple[str, ...] = grading.GRADER) -> GradeOutcome:
        """See `Backend`."""
        request = {
            "kind": "grade",
            "command": list(command),
            "snapshot": str(spec.snapshot.absolute()),
            **self._common,
            "grader": str(self.copies.grader),
            "has_reply": spec.reply is not None,
            "scripts": list(spec.scripts),
            "seconds": spec.seconds,
            "limits": asdict(spec.limits),
        }
        blobs = [spec.rules_json, spec.reply or b"", *spec.scripts.values()]
        answer, out = self._ask(request, blobs, spec.seconds + TURN_SECONDS + SLACK_SECONDS, Control())
        with _answered():
            reward, _, stderr = out
            fault = answer["fault"]
            return GradeOutcome(
                None if fault else reward, fault, answer["exit_code"], answer["seconds"], stderr
            )

    def manifest(self, spec: RunSpec) -> dict[str, object]:
        """The effective value of every limit, and what enforces it."""
        label = self.keeper().label
        return {
            **asdict(spec.limits),
            "seconds": min(spec.budget_seconds, spec.limits.seconds),
            "tmp_bytes": rootfs.TMP_BYTES,
            "shm_bytes": rootfs.SHM_BYTES,
            "reply_bytes": REPLY_BYTES,
            "workspace_inodes": stage.INODES,
            "snapshot_files": files.MAX_FILES,
            "backend": self.kind.value,
            "isolation": self.isolation(spec.root),
            "cgroup": label,
            **self.bounds(label),
            "runtime": self.copies.digest,
        }

    def keeper(self) -> Keeper:
        """This process's keeper, started on first use, after a fork and after it was lost."""
        with self._lock:
            if self._keeper is None or not self._keeper.usable():
                self._keeper = Keeper.start(self.kind, self.tool, self._filter)
            return self._keeper

    def close(self) -> None:
        """End the keeper and everything below it; the next call starts another."""
        with self._lock:
            if self._keeper is not None:
                self._keeper.close()
                self._keeper = None

    def _ask(
        self, request: dict[str, Any], blobs: list[bytes], seconds: float, control: Control
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send one request and wait for its answer, at most `seconds` and what `control` held besides."""
        ours, theirs = socket.socketpair()
        watched = Watched()
        with ours, watched, _attached(control, ours):
            with theirs:
                self.keeper().hand_over(theirs)
            until = time.monotonic() + seconds
            try:
                ours.settimeout(seconds)
                wire.send(ours, request, blobs)
                control.attach(ours)
                while True:
                    head, out = _await(ours, until, control)
                    if "answer" in head:
                        return head["answer"], out
                    if "listener" in head:
                        _hand_on(ours, control)
                        continue
                    if "fault" in head:
                        raise _FAULTS.get(head["fault"], InfrastructureFault)(head["text"])
                    with _answered():
                        watched.add(*map(int, head.values()))
            except ProtocolFault:
                watched.kill()
                raise
            except (OSError, EOFError) as fault:
                watched.kill()
                if control.cancelled:
                    raise EpisodeCancelled from fault
                raise KeeperLost("the episode's process is gone or did not answer in time") from fault


@contextlib.contextmanager
def _attached(control: Control, ours: socket.socket) -> Iterator[None]:
    try:
        yield
    finally:
        control.detach()


def _await(ours: socket.socket, until: float, control: Control) -> tuple[dict[str, Any], list[bytes]]:
    """The next message; TimeoutError where none begins in time, however long the clock was held meanwhile."""
    while True:
        left = until + control.held() - time.monotonic()
        if select.select([ours], [], [], min(max(0.1, left), LOOK_SECONDS))[0]:
            ours.settimeout(max(0.1, left))
            return wire.receive(ours)
        if left <= 0:
            raise TimeoutError


def _hand_on(ours: socket.socket, control: Control) -> None:
    """Take the listener that comes after its announcement, and give it to whoever serves it."""
    _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    if len(fds) != 1 or control.serve is None:
        raise ProtocolFault("a listener was announced and did not come")
    control.serve(socket.socket(fileno=fds[0]))


@contextlib.contextmanager
def _answered() -> Iterator[None]:
    """What the other side sent is read here: whatever is wrong with it is a ProtocolFault, nothing else."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise ProtocolFault(f"answer cannot be read: {type(fault).__name__}") from fault
