"""One bubblewrap sandbox from start to the last process's end, inside an episode process.

The caller (single-threaded, see `keeper`) gives arguments, a deadline and an output buffer; this module
starts the tool with an empty environment and no other descriptors, drains the output, kills at the
deadline and proves that nothing is left.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.sandbox import kernel, runsc, seccomp
from evaluation.sandbox.cgroups import LAUNCHER_PIDS, Besides, Group
from evaluation.sandbox.measures import Clock, Streams
from evaluation.sandbox.spec import Kind, Limits, ProcessesRemain, SandboxStartFailed

START_SECONDS = 10.0
# Most end at once. A harness can pile up mappings and page tables that take the kernel seconds to undo:
# that must not look like a fault of ours.
KILL_SECONDS = 20.0
_CHUNK = 1 << 18
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
# A command that cannot be started is its own fault, exit 126 or 127; the tool itself would report that as
# it reports a failure to make the sandbox. The byte tells that from here on all is the harness's doing;
# the harness itself never holds that descriptor.
_ARGS_FD, _SECCOMP_FD, _STATUS_FD, _BEGUN_FD = 3, 4, 5, 6
_EXEC = ("/bin/sh", "-c", f'echo >&{_BEGUN_FD} && exec "$@" {_BEGUN_FD}>&-', "sh")
_CUT_OFF = 128 + signal.SIGKILL


class Cancelled(Exception):
    """The worker closed its end: nobody waits for this episode any more."""


@dataclass(frozen=True, slots=True)
class Host:
    """How this keeper makes sandboxes. `drop_uid` is the real uid to take on, None to keep ours."""

    kind: Kind
    tool: str
    filter: bytes
    drop_uid: int | None

    @property
    def besides(self) -> Besides:
        """What this backend adds to an episode's control group."""
        return runsc.BESIDES if self.kind is Kind.GVISOR else Besides()


@dataclass(frozen=True, slots=True)
class Ended:
    """`exit_code` is None when the time ran out; 128 + signal for a killed command.

    `cpu_seconds` are of the tool and all that it waited for, so of the whole sandbox where that ended by itself.
    """

    exit_code: int | None
    overdue: bool
    seconds: float
    out_of_memory: bool
    cpu_seconds: float


@dataclass(slots=True)
class Box:
    """One sandbox run. `watch` is the worker's socket, `started` is told PID 1's process id."""

    host: Host
    limits: Limits
    group: Group | None
    watch: int
    started: Callable[[int], None]
    clock: Clock = field(default_factory=Clock)
    opening: tuple[str, ...] = _EXEC
    """What starts the command inside and says so; another where the shell is not the platform's (see `launcher`)."""
    gateway: Path | None = None
    """gVisor only: the folder of the socket that the relay inside leads to."""

    def run(self, arguments: list[str], command: tuple[str, ...], seconds: float, streams: Streams) -> Ended:
        """Run to the end or for `seconds`. Raises SandboxStartFailed, ProcessesRemain or Cancelled."""
        oom_before = self.group.oom_kills() if self.group else 0
        if self.group is not None:
            self.group.throttle(self.limits.cpus)
        before = self.clock.stands(time.monotonic())
        run = _Run(self, *self._spawn(arguments, command), time.monotonic(), seconds, streams, before)
        try:
            run.wait()
        finally:
            run.kill()
            run.close()
        out_of_memory = bool(self.group and self.group.oom_kills() > oom_before)
        if not run.began and self.host.kind is Kind.GVISOR:
            run.exit_code = None  # runsc's own
        if run.exit_code is None and run.began:
            # The tool was taken down while the command ran, which no failure of its own explains.
            run.exit_code = _CUT_OFF
        if run.exit_code is None and not out_of_memory:
            said = bytes(streams.err.kept[-500:]).decode("utf-8", "backslashreplace")
            raise SandboxStartFailed(f"the sandbox ended before the command started: {said}")
        spent = max(0.0, run.ended - run.began - run.stood(run.ended)) if run.began else 0.0
        return Ended(
            None if run.overdue else run.exit_code, run.overdue, spent, out_of_memory, run.cpu_seconds
        )

    def _spawn(self, arguments: list[str], command: tuple[str, ...]) -> tuple[int, dict[int, str]]:
        """Fork and exec the tool; returns its process id and our ends of its pipes by role."""
        pipes = {name: os.pipe() for name in ("out", "err", "status", "begun")}
        args = os.memfd_create("args")
        own = ["--seccomp", str(_SECCOMP_FD), "--json-status-fd", str(_STATUS_FD)]
        os.write(args, b"".join(os.fsencode(part) + b"\0" for part in [*own, *arguments]))
        os.lseek(args, 0, os.SEEK_SET)
        program = seccomp.open_filter(self.host.filter)
        pid = os.fork()
        if pid == 0:
            try:
                if self.host.kind is Kind.GVISOR:
                    self._run_gvisor({name: pair[1] for name, pair in pipes.items()}, arguments, command)
                ends = [
                    pipes["out"][1],
                    pipes["err"][1],
                    args,
                    program,
                    pipes["status"][1],
                    pipes["begun"][1],
                ]
                self._become(ends, command)
            except OSError as fault:
                os.write(pipes["err"][1], f"before exec: {fault}".encode())
            finally:
                os._exit(127)
        for fd in (args, program, *(pair[1] for pair in pipes.values())):
            os.close(fd)
        for name in ("out", "err"):
            _grow(pipes[name][0])
        return pid, {pair[0]: name for name, pair in pipes.items()}

    def _run_gvisor(self, ends: dict[str, int], arguments: list[str], command: tuple[str, ...]) -> None:
        """In the child: group, descriptors 0 to 3, then runsc in namespaces of its own; ends the process."""
        if self.group is not None:
            self.group.join()
        given = [ends[name] for name in ("begun", "out", "err", "status")]
        high = [os.dup2(fd, 100 + number, inheritable=False) for number, fd in enumerate(given)]
        for number, fd in enumerate(high):
            os.dup2(fd, number, inheritable=number < _ARGS_FD)
        os.closerange(_ARGS_FD + 1, 1 << 16)
        Path("/proc/self/oom_score_adj").write_text("1000")
        os.umask(0o022)
        kernel.die_with_parent()
        opening = self.opening if self.opening is not _EXEC else runsc.opening(command[0])
        os._exit(
            runsc.run(
                runsc.Request(
                    tool=self.host.tool,
                    arguments=arguments,
                    command=(*opening, *command),
                    limits=self.limits,
                    memory_is_bounded="memory" in (self.group.dirs if self.group else {}),
                    drop_uid=self.host.drop_uid,
                    gateway=self.gateway,
                ),
                _ARGS_FD,
            )
        )

    def _become(self, ends: list[int], command: tuple[str, ...]) -> None:
        """In the child: group, limits, identity, descriptors 0 to 6, exec."""
        if self.group is not None:
            self.group.join()
        null = os.open("/dev/null", os.O_RDWR)
        high = [os.dup2(fd, 100 + number, inheritable=False) for number, fd in enumerate([null, *ends])]
        for number, fd in enumerate(high):
            os.dup2(fd, number, inheritable=True)
        self._set_rlimits()
        Path("/proc/self/oom_score_adj").write_text("1000")
        os.umask(0o022)
        if self.host.drop_uid is not None:
            os.setgroups([])
            os.setresgid(*[self.host.drop_uid] * 3)
            os.setresuid(*[self.host.drop_uid] * 3)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        kernel.die_with_parent()
        kernel.no_new_privileges()
        os.execve(self.host.tool, ["bwrap", "--args", str(_ARGS_FD), "--", *self.opening, *command], {})  # noqa: S606

    def _set_rlimits(self) -> None:
        """Bounds of single processes; of all of them where the group cannot bound them."""
        limits = self.limits
        wanted = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: limits.nofile,
            resource.RLIMIT_FSIZE: limits.file_bytes,
            resource.RLIMIT_MEMLOCK: 1 << 16,
        }
        controllers = self.group.dirs if self.group else {}
        if "memory" not in controllers:
            # Writable private memory; address space alone would stop runtimes that reserve much and use little.
            wanted[resource.RLIMIT_DATA] = limits.memory_bytes
            wanted[resource.RLIMIT_AS] = 4 * limits.memory_bytes
        if "pids" not in controllers:
            # Counts in the user namespace of the episode: its own process and the two of the tool.
            wanted[resource.RLIMIT_NPROC] = limits.pids + LAUNCHER_PIDS + (self.host.drop_uid is None)
        for number, value in wanted.items():
            resource.setrlimit(number, (value, value))


@dataclass(slots=True)
class _Run:
    """The waiting half of one run: pipes, the tool's process, PID 1's process."""

    box: Box
    pid: int
    pipes: dict[int, str]
    spawned: float
    seconds: float
    streams: Streams
    stood_before: float
    began: float = 0.0
    status: bytearray = field(default_factory=bytearray)
    init: int | None = None
    init_fd: int | None = None
    tool_fd: int = -1
    exit_code: int | None = None
    overdue: bool = False
    ended: float = 0.0
    cpu_seconds: float = 0.0

    def wait(self) -> None:
        """Drain until the tool has ended and its pipes are empty, or the deadline passes.

        The harness's clock starts with its command; up to then the tool has a time of its own.
        """
        self.tool_fd = os.pidfd_open(self.pid)
        poll = select.poll()
        for fd in (*self.pipes, self.tool_fd, self.box.watch):
            poll.register(fd, select.POLLIN)
        running = True
        while running:
            now = time.monotonic()
            until = self._until(now)
            if now >= until:
                self._expire(now)
                return
            for fd, _ in poll.poll(max(10, int((until - now) * 1000))):
                if fd == self.box.watch:
                    self._hear()
                elif fd == self.tool_fd:
                    running = False
                elif not self._drain(fd):
                    poll.unregister(fd)
        self.ended = time.monotonic()

    def stood(self, now: float) -> float:
        """How long the harness's clock has stood since this run was started."""
        return self.box.clock.stands(now) - self.stood_before

    def _until(self, now: float) -> float:
        if not self.began:
            return self.spawned + START_SECONDS
        return self.began + self.seconds + self.stood(now)

    def _hear(self) -> None:
        """What the worker says while the command runs; that it is gone ends the episode."""
        words = os.read(self.box.watch, 4096)
        if not words:
            raise Cancelled
        if self.box.group is not None and self.box.group.can_freeze():
            self.box.clock.hear(words)
            self._rest()

    def _rest(self) -> None:
        """Nothing of the harness runs while its clock stands: else waiting would be time for nothing."""
        if self.began and self.box.group is not None:
            self.box.group.freeze(frozen=self.box.clock.since is not None)

    def _expire(self, now: float) -> None:
        """Time is up: the tool's if the command never began, else the harness's.

        A command that ended in time whose exit code has been reported is finished, even where the tool
        is still there; one that ended so late that it has not been is overdue.
        """
        self.ended = now
        self._drain_rest()
        if not self.began:
            raise SandboxStartFailed("the sandbox tool did not start the command in time")
        self.overdue = self.exit_code is None

    def _drain(self, fd: int) -> bool:
        """Read once from a pipe; False at its end."""
        chunk = os.read(fd, _CHUNK)
        name = self.pipes[fd]
        if name == "status":
            self.status += chunk
            self._read_status()
        elif name == "begun":
            self.began = self.began or (time.monotonic() if chunk else 0.0)
            if self.box.clock.since is not None:
                self._rest()
        else:
            (self.streams.out if name == "out" else self.streams.err).add(chunk)
        return bool(chunk)

    def _read_status(self) -> None:
        *lines, rest = bytes(self.status).split(b"\n")
        self.status = bytearray(rest)
        for line in lines:
            facts = json.loads(line)
            if "child-pid" in facts:
                self.init = int(facts["child-pid"])
                try:
                    self.init_fd = os.pidfd_open(self.init)
                except ProcessLookupError:
                    self.init_fd = None
                self.box.started(self.init)
            if "exit-code" in facts:
                self.exit_code = int(facts["exit-code"])

    def kill(self) -> None:
        """Kill PID 1 (and so its namespace) and the tool, sweep the group, prove that all are gone."""
        until = time.monotonic() + KILL_SECONDS
        if self.box.group is not None:
            with contextlib.suppress(OSError):  # slower then, and killed all the same
                self.box.group.throttle(None)
        for fd in (self.init_fd, self.tool_fd if self.tool_fd >= 0 else None):
            if fd is not None:
                _signal(fd)
        if self.tool_fd < 0:
            self.tool_fd = os.pidfd_open(self.pid)
            _signal(self.tool_fd)
        if self.box.group is not None:
            self.box.group.freeze(frozen=False)  # what was frozen takes its kill with the thaw
        if not select.select([self.tool_fd], [], [], KILL_SECONDS)[0]:
            raise ProcessesRemain("the sandbox tool outlived its kill")
        # PID 1 of a namespace ends only after every other process of it has been reaped.
        if self.init_fd is not None and not select.select([self.init_fd], [], [], KILL_SECONDS)[0]:
            raise ProcessesRemain("PID 1 of the sandbox outlived its kill")
        if self.box.group is not None and not self.box.group.kill(max(0.1, until - time.monotonic())):
            raise ProcessesRemain("the control group is not empty")
        self.cpu_seconds = _reap_all()
        self._drain_rest()

    def _drain_rest(self) -> None:
        """What is left in the pipes when all writers are gone; bounded by the pipes' size."""
        for fd in self.pipes:
            os.set_blocking(fd, False)
            try:
                while self._drain(fd):
                    pass
            except BlockingIOError:
                continue

    def close(self) -> None:
        for fd in (*self.pipes, self.tool_fd, self.init_fd):
            if fd is not None and fd >= 0:
                os.close(fd)


def _reap_all() -> float:
    """Collect the tool and what was handed to us; their CPU seconds. A host's PID 1 may collect nothing."""
    spent = 0.0
    with contextlib.suppress(ChildProcessError):
        while (ended := os.wait4(-1, os.WNOHANG))[0]:
            spent += ended[2].ru_utime + ended[2].ru_stime
    return spent


def _signal(fd: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(fd, signal.SIGKILL)


def _grow(fd: int) -> None:
    with contextlib.suppress(OSError):  # over the user's allowance: the default size works too
        fcntl.fcntl(fd, _F_SETPIPE_SZ, _PIPE_BYTES)
