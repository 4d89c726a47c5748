"""What goes into a sandbox and what comes out: the shapes shared by every backend.

A vendor's fault is always a value in `Outcome`; only the platform's own faults are exceptions.
Sizes are bytes, times are seconds, texts are bytes as the harness wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

MIB = 1 << 20
REPLY_BYTES = 1 * MIB
# The kernel takes 128 KiB for one argument; what intake lets through must never be more than this.
MAX_COMMAND, MAX_ARGUMENT = 256 << 10, 64 << 10
# Room that the memory limit must leave above a full workspace, so that files a harness left behind
# can never stop its next turn from starting (which would look like a fault of ours).
MEMORY_HEADROOM = 128 * MIB


class Ending(StrEnum):
    """How an episode ended; a fault of the platform is an exception instead."""

    FINISHED = "finished"
    CRASHED = "crashed"
    BUDGET_EXHAUSTED = "budget_exhausted"
    LIMIT_EXCEEDED = "limit_exceeded"


class Kind(StrEnum):
    """The two backends."""

    BUBBLEWRAP = "bubblewrap"
    GVISOR = "gvisor"


class InfrastructureFault(Exception):
    """The platform failed, so nothing may be scored. The class and `code` decide; the text is for staff."""

    code = "infrastructure_fault"


class SandboxUnavailable(InfrastructureFault):
    """This worker cannot make sandboxes at all (tool missing, kernel refuses): stop taking work."""

    code = "sandbox_unavailable"


class HostDiskFull(SandboxUnavailable):
    """What the episode left could not be kept here: nobody's fault but this machine's."""

    code = "disk_full"


class SandboxStartFailed(InfrastructureFault):
    """The sandbox did not reach the point of starting the command."""

    code = "sandbox_start_failed"


class ProcessesRemain(InfrastructureFault):
    """Processes were still there after the kill: nothing that was written can be trusted."""

    code = "processes_remain"


class ProtocolFault(InfrastructureFault):
    """A message between worker and keeper was not what it must be."""

    code = "protocol"


class KeeperLost(InfrastructureFault):
    """The process that held the episode died or did not answer in its time."""

    code = "keeper_lost"


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of one episode; each has an effective value in `Outcome.manifest`.

    `memory_bytes` includes files kept in memory (workspace, home, /tmp). `workspace_bytes` bounds
    workspace, home and reply together. `pids` counts processes and threads of the harness;
    `snapshot_bytes` bounds what is kept of the workspace afterwards.
    """

    seconds: float = 60.0
    memory_bytes: int = 1024 * MIB
    pids: int = 128
    workspace_bytes: int = 256 * MIB
    file_bytes: int = 128 * MIB
    stdout_bytes: int = 1 * MIB
    nofile: int = 1024
    snapshot_bytes: int = 64 * MIB
    cpus: float = 1.0

    def __post_init__(self) -> None:
        if self.memory_bytes < self.workspace_bytes + MEMORY_HEADROOM:
            raise ValueError("memory_bytes must exceed workspace_bytes by at least 128 MiB")
        positive = (self.seconds, self.pids, self.file_bytes, self.stdout_bytes, self.nofile, self.cpus)
        if min(*positive, self.snapshot_bytes) <= 0:
            raise ValueError("every limit must be positive")


GRADER_LIMITS = Limits(pids=64, workspace_bytes=512 * MIB, file_bytes=256 * MIB, stdout_bytes=64 << 10)


@dataclass(frozen=True, slots=True)
class Root:
    """A root file system in place of the host's: an unpacked image, or the official one.

    `path` holds every mount point (`images.places`) and carries a neutral name, as `harness_dir` does. `label`
    is what the isolation grade says of it; `environment` are an image's own variables, which never replace one
    of the contract.
    """

    path: Path
    label: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One attempt at one episode.

    `turns` holds the texts of turn 2 and later; `instruction` is turn 1. `harness_dir` must be
    readable for everybody below its own top directory and carry a neutral name (its path can be seen
    in the mount table inside): a digest, never a vendor. `opaque_id` names nothing of the task.
    `variables` come on top of those of the contract. Without a `root` the host's /usr is shown.
    """

    opaque_id: str
    command: tuple[str, ...]
    harness_dir: Path
    instruction: bytes
    workspace_tar: Path | bytes
    seed: int
    budget_seconds: float
    budget_steps: int
    budget_tokens: int
    turns: tuple[bytes, ...] = ()
    limits: Limits = field(default_factory=Limits)
    variables: Mapping[str, str] = field(default_factory=dict)
    root: Root | None = None

    def __post_init__(self) -> None:
        sizes = [len(part.encode("utf-8", "surrogatepass")) for part in self.command]
        if not sizes or sum(sizes) > MAX_COMMAND or max(sizes) > MAX_ARGUMENT:
            raise ValueError("the command must be a non-empty argument list of at most 256 KiB, 64 KiB each")
        if any("\0" in part for part in self.command):
            raise ValueError("no argument of the command may hold NUL")


SIGNALS = (
    "oom_kills",
    "processes_refused",
    "file_system_full",
    "artefacts_refused",
    "killed_by_filter",
    "gateway_refusals",
)
"""What a host can count of an attempt, for staff; only what is not 0 is kept.

Processes the kernel killed for memory, forks it refused, writable file systems that were full at the end of a turn,
things left that were no regular files or too many, system calls by a foreign ABI that the filter killed for (where
the kernel's log can be read), calls the model gateway refused.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left of an attempt when every process of it is gone.

    `exit_code` is the first non-zero exit code of a turn, else 0; None when a turn was cut off.
    `turn` is the last turn that was started. `snapshot` is a tar of the regular files of the
    workspace; `refused` names what was left out of it and why ("link out/x"), the first hundred with their
    names cut, and then how many more there were. `wrote` tells whether the
    run left any artefact: a file it made or changed. `limit_hits` lists which limits bit: memory, pids,
    disk, file. `signals` is what the host counted (see `SIGNALS`), `cpu_seconds` what the sandbox took,
    the backend's own work included, where it ended by itself.
    """

    ending: Ending
    which_budget: str | None
    exit_code: int | None
    turn: int
    seconds: float
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool
    stderr_truncated: bool
    snapshot: Path | None
    snapshot_truncated: bool
    wrote: bool
    reply: bytes | None
    reply_truncated: bool
    refused: tuple[str, ...]
    limit_hits: tuple[str, ...]
    oom_kills: int
    isolation: str
    manifest: Mapping[str, object]
    signals: Mapping[str, int] = field(default_factory=dict)
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class GradeSpec:
    """Grade one snapshot. `scripts` maps a file name to the bytes of a task's own check script."""

    rules_json: bytes
    snapshot: Path
    reply: bytes | None = None
    scripts: Mapping[str, bytes] = field(default_factory=dict)
    seconds: float = 30.0
    limits: Limits = GRADER_LIMITS


@dataclass(frozen=True, slots=True)
class GradeOutcome:
    """The reward file's bytes, or the code of a technical fault; never both.

    Faults: `grader_exit` (non-zero exit), `no_reward`, `grader_overdue`, `grader_limit`.
    `stderr` is for staff only.
    """

    reward: bytes | None
    fault: str | None
    exit_code: int | None
    seconds: float
    stderr: bytes
