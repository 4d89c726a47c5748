"""Proves at worker start that sandboxes on this host hold: isolation and limits, for agent and grader.

A worker whose report is not `fit` runs no held-out work. What the host cannot give (control groups for an
ordinary user) is reported as not available, and shown with the isolation grade of each run.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from evaluation.sandbox import backends, masks, rootfs, runtime, seccomp
from evaluation.sandbox.backend import KeptBackend
from evaluation.sandbox.evidence import carrying, empty_tar, figures_in, host_listeners, tools_of
from evaluation.sandbox.spec import (
    MIB,
    Ending,
    GradeSpec,
    InfrastructureFault,
    Kind,
    Limits,
    Outcome,
    RunSpec,
)

_PROBES = Path(__file__).parent / "probes"
_LIMITS = Limits(
    seconds=20,
    memory_bytes=192 * MIB,
    pids=24,
    workspace_bytes=16 * MIB,
    file_bytes=8 * MIB,
    stdout_bytes=64 << 10,
    nofile=64,
    cpus=0.5,
)
_GRADE_LIMITS = replace(_LIMITS, pids=32, stdout_bytes=32 << 10)
_VARIABLES = ("PATH", "HOME", "LANG", "TZ")
_AGENT_VARIABLES = (
    "EPISODE_SEED",
    "TURN",
    "TURNS",
    "REPLY_FILE",
    "BUDGET_SECONDS",
    "BUDGET_STEPS",
    "BUDGET_TOKENS",
)
_DEADLINES = (0.5, 4.0)  # seconds; the second where a busy host did not start the command in the first
_AHEAD = (0.3, 3.0)  # seconds from the start of two episodes to their appointment
_TMP, _SHM = "/tmp", "/dev/shm"  # noqa: S108 (inside)
# Calls whose arguments of zero do nothing where they are allowed; the filter must answer first.
_CALLS = """
ptrace keyctl add_key request_key bpf io_uring_setup userfaultfd mount umount2 unshare setns pivot_root
perf_event_open kexec_load open_by_handle_at process_vm_readv process_vm_writev init_module fsopen
open_tree move_mount name_to_handle_at pidfd_getfd swapon reboot clone3 modify_ldt kcmp acct pidfd_open
fanotify_init inotify_init1 sysinfo statfs fstatfs cachestat mincore process_madvise io_setup
"""


# What gVisor's own kernel must refuse whoever asks; the rest it answers by itself, for this sandbox alone.
_CALLS_OF_PRIVILEGE = """
bpf io_uring_setup userfaultfd mount umount2 setns pivot_root perf_event_open kexec_load open_by_handle_at
init_module fsopen open_tree move_mount swapon reboot acct fanotify_init
"""


class Result(StrEnum):
    PASS = "pass"  # noqa: S105 (no password)
    FAIL = "fail"
    NOT_AVAILABLE = "not_available"


@dataclass(frozen=True, slots=True)
class Probe:
    """One question and its answer; `where` is agent or grader. Only `required` ones stop held-out work."""

    name: str
    where: str
    result: Result
    required: bool = True
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SelfTestReport:
    """What a worker may claim. `grade` is shown with every run it makes."""

    grade: str
    cgroup: str
    runtime: str
    uid: int
    probes: tuple[Probe, ...]
    seconds: float

    @property
    def fit(self) -> bool:
        """Whether held-out work may run here."""
        return bool(self.probes) and not any(p.required and p.result is not Result.PASS for p in self.probes)

    def as_json(self) -> dict[str, object]:
        """Plain data for a row, a log line or a page."""
        return {**asdict(self), "probes": [asdict(probe) for probe in self.probes], "fit": self.fit}


def run(
    copies: runtime.Runtime | None = None, tool: str | None = None, kind: Kind | None = None
) -> SelfTestReport:
    """Run every probe on a backend, the chosen one unless `kind` names it: about 4 s, gVisor three times that.

    Faults of the sandbox become failed probes, never exceptions.
    """
    began = time.monotonic()
    label = digest = grade = ""
    probes: list[Probe] = []
    try:
        with _bench(kind or backends.chosen(), copies, tool) as bench:
            label, digest = bench.backend.cgroup, bench.backend.copies.digest
            grade = bench.backend.isolation(None)
            probes += [*bench.isolation(), *bench.limits(), *bench.grader_limits()]
    except InfrastructureFault as fault:
        probes.append(Probe("start", "agent", Result.FAIL, detail=f"{fault.code}: {fault}"))
    return SelfTestReport(
        grade or rootfs.ISOLATION,
        label or "no cgroup",
        digest,
        os.geteuid(),
        tuple(probes),
        time.monotonic() - began,
    )


def isolation(copies: runtime.Runtime, tool: str, kind: Kind = Kind.BUBBLEWRAP) -> tuple[Probe, ...]:
    """Only the probes of isolation, for a given tool. Raises InfrastructureFault where it does not start."""
    with _bench(kind, copies, tool) as bench:
        return tuple(bench.isolation())


@contextlib.contextmanager
def _bench(kind: Kind, copies: runtime.Runtime | None, tool: str | None) -> Iterator[_Bench]:
    """A backend of its own, started while a marker stands in this process's environment."""
    marker = secrets.token_hex(16)
    with contextlib.ExitStack() as stack:
        stack.callback(os.environ.pop, "LINGEE_SELFTEST_MARKER", None)
        os.environ["LINGEE_SELFTEST_MARKER"] = marker
        backend = backends.make(kind, copies or runtime.ensure(runtime.default_base()), tool)
        stack.enter_context(contextlib.closing(backend))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="selftest-")))
        listeners = stack.enter_context(host_listeners(scratch))
        yield _Bench(backend, scratch, {**listeners, "marker_reversed": marker[::-1]})


def _agent_settings(common: dict[str, object], absent: list[str]) -> dict[str, object]:
    """What inside.py must find in an episode's sandbox, and what it must not."""
    writable = ["/workspace", rootfs.HOME, "/reply", _TMP]
    return common | {
        "absent": [*absent, "/grade", "/opt/grader"],
        "variables": [*_VARIABLES, *_AGENT_VARIABLES],
        "writable": writable,
        "must_write": [*writable, _SHM],
        "masked": masks.expected(_LIMITS),
        "read_only": ["/harness", "/task", "/task/turns"],
        "sizes": {"/workspace": _LIMITS.workspace_bytes, _TMP: rootfs.TMP_BYTES, _SHM: rootfs.SHM_BYTES},
    }


def _grader_settings(common: dict[str, object], absent: list[str]) -> dict[str, object]:
    """The same for a grading sandbox."""
    writable = ["/grade/out", _TMP]
    return common | {
        "absent": [*absent, "/harness", "/task", "/workspace", "/reply", "/home"],
        "variables": list(_VARIABLES),
        "writable": writable,
        "must_write": [*writable, _SHM],
        "masked": masks.expected(_GRADE_LIMITS),
        "read_only": ["/grade", "/grade/run", "/grade/run/workspace", "/grade/scripts", "/opt/grader"],
        "sizes": {"/grade/out": _GRADE_LIMITS.workspace_bytes, _TMP: rootfs.TMP_BYTES},
    }


class _Bench:
    """Runs the probe scripts and reads what they and the outcome say."""

    def __init__(self, backend: KeptBackend, scratch: Path, settings: dict[str, object]) -> None:
        self.backend = backend
        self.work = scratch / "work"
        self.work.mkdir()
        self.harness = scratch / "harness"
        self.harness.mkdir(mode=0o755)
        for source in _PROBES.glob("*.py"):
            (self.harness / source.name).write_bytes(source.read_bytes())
            (self.harness / source.name).chmod(0o644)
        (self.work / "empty.tar").write_bytes(empty_tar())
        self.own_kernel = backend.kind is Kind.GVISOR
        calls = seccomp.numbers((_CALLS_OF_PRIVILEGE if self.own_kernel else _CALLS).split())
        # As an ordinary user gVisor can show one user only, 0, who holds no right.
        uid = 0 if self.own_kernel and os.geteuid() != 0 else rootfs.UID
        release = os.uname().release
        self.settings = settings | {
            "calls": calls,
            "own_kernel": self.own_kernel,
            "uid": uid,
            "release": release,
        }
        self.memory_of_all = "memory" in backend.cgroup

    def _episode(self, *command: str, budget: float = 20.0, work: Path | None = None) -> Outcome:
        spec = RunSpec(
            opaque_id="selftest",
            command=command,
            harness_dir=self.harness,
            instruction=b"",
            workspace_tar=empty_tar(),
            seed=0,
            budget_seconds=budget,
            budget_steps=0,
            budget_tokens=0,
            limits=_LIMITS,
        )
        return self.backend.run_episode(spec, work or self.work)

    def _limit(self, *arguments: str, budget: float = 20.0) -> tuple[Outcome, dict[str, object]]:
        """Run limits.py; its figures merged (lines that are no JSON are skipped)."""
        outcome = self._episode("python3", "/harness/limits.py", *arguments, budget=budget)
        return outcome, figures_in(outcome.stdout)

    def isolation(self) -> Iterator[Probe]:
        """Every probe of inside.py, in both kinds of sandbox."""
        home, checkout = Path.home(), Path(__file__).resolve().parents[3]
        absent = [str(path) for path in (home, checkout, self.work) if path != Path("/")]
        agent = json.dumps(self._masked(_agent_settings(self.settings, absent)))
        outcome = self._episode("python3", "/harness/inside.py", agent)
        yield from _answers("agent", outcome.stdout, outcome.stderr)
        grader = json.dumps(self._masked(_grader_settings(self.settings, absent)))
        source = (_PROBES / "inside.py").read_text()
        graded = self.backend.run_grader(self._grade_spec(), ("python3", "-I", "-S", "-c", source, grader))
        yield from _answers("grader", graded.reward or b"", graded.stderr)
        yield self._strangers()

    def _masked(self, settings: dict[str, object]) -> dict[str, object]:
        """Of gVisor's /proc only what states the episode's limits is ours; the rest tells of itself."""
        masked = settings["masked"]
        if self.own_kernel and isinstance(masked, dict):
            masked = {"/proc/meminfo": masked["/proc/meminfo"]}
        return settings | {"masked": masked}

    def _strangers(self) -> Probe:
        """Two episodes at once cannot tell that the other is there; again, later, where a busy host was late."""
        other = self.work.with_name("other")
        other.mkdir(exist_ok=True)
        said: list[dict[str, object]] = []
        # In a kernel of its own a harness sees its own traces: those must be all.
        alone = ("python3", "/harness/strangers.py", str(time.time() + _AHEAD[0]))
        own = figures_in(self._episode(*alone).stdout).get("seen") if self.own_kernel else []
        for ahead in _AHEAD:
            command = ("python3", "/harness/strangers.py", str(time.time() + ahead))
            with ThreadPoolExecutor(2) as pool:
                runs = [pool.submit(self._episode, *command, work=work) for work in (self.work, other)]
                said = [figures_in(run.result().stdout) for run in runs]
            if not any(one.get("late", True) for one in said):
                break
        good = all(one == {"late": False, "seen": own} for one in said)
        return _judge("two_sandboxes", good, str(said)[:300])

    def _grade_spec(self, seconds: float = 20.0) -> GradeSpec:
        return GradeSpec(
            rules_json=b"{}",
            snapshot=self.work / "empty.tar",
            reply=b"x",
            seconds=seconds,
            limits=_GRADE_LIMITS,
        )

    def limits(self) -> Iterator[Probe]:
        """Each declared limit bites, and where the manifest says it does (within 10 %)."""
        yield from self._deadline()
        outcome, _ = self._limit("memory")
        touched = outcome.stdout.count(b"m") * MIB
        bit = "memory" in outcome.limit_hits or not self.memory_of_all
        yield _near("memory_of_one_process", touched, _LIMITS.memory_bytes, 0.2, also=bit)
        outcome, figures = self._limit("pair", str(int(_LIMITS.memory_bytes * 0.7) // MIB))
        if self.memory_of_all:
            yield _judge(
                "memory_of_all_processes", "memory" in outcome.limit_hits, f"{outcome.limit_hits} {figures}"
            )
        else:
            text = "no control group: only each process is bounded"
            yield Probe("memory_of_all_processes", "agent", Result.NOT_AVAILABLE, required=False, detail=text)
        outcome, figures = self._limit("counts")
        yield _near("processes", figures.get("processes"), _LIMITS.pids, 0.1)
        yield _near("descriptors", figures.get("descriptors"), _LIMITS.nofile, 0.1)
        yield _judge("no_core_files", figures.get("core") == 0, str(figures))
        outcome = self._episode("python3", "/harness/limits.py", "disk", "/workspace")
        figures = figures_in(outcome.stdout)
        yield _near(
            "workspace_bytes",
            figures.get("total"),
            _LIMITS.workspace_bytes,
            0.1,
            also="disk" in outcome.limit_hits,
        )
        yield _near("file_bytes", figures.get("file_bytes"), _LIMITS.file_bytes, 0.1)
        yield self._cpu()

    def _cpu(self) -> Probe:
        if "cpu" not in self.backend.cgroup:
            return Probe("cpus", "agent", Result.NOT_AVAILABLE, required=False, detail="no control group")
        began = time.monotonic()
        outcome, figures = self._limit("cpu")
        wall = time.monotonic() - began
        # gVisor's kernel only estimates what its processes used: the host's own count decides.
        used, allowed = outcome.cpu_seconds, _LIMITS.cpus * wall + 0.1  # one accounting period more
        good = "cpu" in figures and 0 < used <= allowed
        return _judge("cpus", good, f"{used:.2f} s of at most {allowed:.2f} s")

    def _deadline(self) -> Iterator[Probe]:
        """A double-forked, TERM-ignoring grandchild in its own session is gone 2 s after the deadline.

        While it runs its real user id is read from outside: inside, bubblewrap's mapping hides it.
        """
        good, detail, seen = False, "", set[str]()
        for budget in _DEADLINES:
            token = f"lingee-{secrets.token_hex(12)}"
            with ThreadPoolExecutor(1) as pool:
                uids = pool.submit(self._kernel_uids, token, budget)
                began = time.monotonic()
                outcome = self._episode("python3", "/harness/limits.py", "deadline", token, budget=budget)
                late = time.monotonic() - began - budget
            seen = uids.result()
            gone = not any(True for _ in self._processes(token))
            good = outcome.ending is Ending.BUDGET_EXHAUSTED and bool(seen) and gone and late < 2
            detail = f"{outcome.ending}, gone {gone}, {late:.2f} s late"
            if seen or not gone:
                break
        yield _judge("deadline", good, detail)
        yield _judge("kernel_uid", bool(seen) and "0" not in seen, f"uids {sorted(seen)}")

    def _processes(self, token: str) -> Iterator[Path]:
        """What this host has of a running harness: processes that carry its token, or gVisor's on its behalf."""
        return tools_of(self.backend.keeper().process.pid) if self.own_kernel else carrying(token)

    def _kernel_uids(self, token: str, seconds: float) -> set[str]:
        """Real, effective, saved and file system uid of what runs the harness, seen from the host."""
        until = time.monotonic() + seconds
        seen: set[str] = set()
        while not seen and time.monotonic() < until:
            time.sleep(0.05)
            for process in self._processes(token):
                with contextlib.suppress(OSError):
                    lines = (process / "status").read_text().splitlines()
                    seen.update(next(line for line in lines if line.startswith("Uid:")).split()[1:])
        return seen

    def grader_limits(self) -> Iterator[Probe]:
        """The same for the grading sandbox, by its technical faults."""
        source = (_PROBES / "limits.py").read_text()
        base = ("python3", "-I", "-S", "-c", source)
        token = f"lingee-{secrets.token_hex(12)}"
        graded = self.backend.run_grader(self._grade_spec(_DEADLINES[0]), (*base, "deadline", token))
        good = graded.fault == "grader_overdue" and not any(True for _ in self._processes(token))
        yield _judge("deadline", good, str(graded.fault), where="grader")
        if self.memory_of_all:
            graded = self.backend.run_grader(self._grade_spec(), (*base, "memory"))
            yield _judge("memory", graded.fault == "grader_limit", str(graded.fault), where="grader")
        graded = self.backend.run_grader(self._grade_spec(), ("python3", "-c", "raise SystemExit(3)"))
        yield _judge("exit_code", graded.fault == "grader_exit", str(graded.fault), where="grader")
        graded = self.backend.run_grader(self._grade_spec(), ("python3", "-c", "pass"))
        yield _judge("no_reward", graded.fault == "no_reward", str(graded.fault), where="grader")


def _answers(where: str, text: bytes, errors: bytes) -> Iterator[Probe]:
    try:
        answers = json.loads(text)
    except ValueError:
        detail = errors[-300:].decode("utf-8", "backslashreplace")
        yield Probe("isolation", where, Result.FAIL, detail=f"no report: {detail}")
        return
    for name, (passed, detail) in answers.items():
        yield Probe(name, where, Result.PASS if passed else Result.FAIL, detail=detail)


def _judge(name: str, good: bool, detail: str, where: str = "agent") -> Probe:
    return Probe(name, where, Result.PASS if good else Result.FAIL, detail=detail)


def _near(name: str, measured: object, declared: int, share: float, *, also: bool = True) -> Probe:
    close = isinstance(measured, int) and abs(measured - declared) <= declared * share
    return _judge(name, close and also, f"measured {measured}, declared {declared}")
