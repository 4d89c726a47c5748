"""Control groups for sandboxes: version 1, version 2 where it is delegated, or none.

One group per keeper, one child group per episode in it. What the host does not allow is left out and
reported; rlimits (see `box`) then bound single processes only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.sandbox.spec import Limits

_PREFIX = "lingee-"
_LEAF = "lingee-main"
_FREEZE_SECONDS = 0.1
_PERIOD = 100_000  # microseconds of one CPU accounting period
# bubblewrap's own two processes (the outer one and PID 1) are in the group as well.
LAUNCHER_PIDS = 2


@dataclass(frozen=True, slots=True)
class Besides:
    """What a backend itself needs in an episode's group, on top of the harness's limits."""

    pids: int = LAUNCHER_PIDS
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """One control group; `dirs` maps a controller to its directory (all the same in version 2)."""

    version: int
    dirs: dict[str, Path]

    def limit(self, limits: Limits, besides: Besides) -> None:
        """Set memory, process and CPU limits. Raises OSError when the kernel refuses one."""
        pids = str(limits.pids + besides.pids)
        memory = str(limits.memory_bytes + besides.memory_bytes)
        if self.version == 1:
            wanted = [("memory", "memory.limit_in_bytes", memory), ("pids", "pids.max", pids)]
            wanted += [("memory", "memory.memsw.limit_in_bytes", memory)]
        else:
            wanted = [("memory", "memory.max", memory), ("pids", "pids.max", pids)]
            wanted += [("memory", "memory.swap.max", "0"), ("memory", "memory.oom.group", "1")]
        optional = {"memory.memsw.limit_in_bytes", "memory.swap.max", "memory.oom.group"}
        for controller, name, value in wanted:
            if controller in self.dirs and not (name in optional and not self._has(controller, name)):
                (self.dirs[controller] / name).write_text(value)
        self.throttle(limits.cpus)

    def throttle(self, cpus: float | None) -> None:
        """Allow `cpus` processors; None for all of them, so that what is killed can end at full speed."""
        if "cpu" not in self.dirs:
            return
        quota = int(cpus * _PERIOD) if cpus is not None else None
        if self.version == 1:
            (self.dirs["cpu"] / "cpu.cfs_quota_us").write_text(str(-1 if quota is None else quota))
        else:
            (self.dirs["cpu"] / "cpu.max").write_text(f"{'max' if quota is None else quota} {_PERIOD}")

    def _has(self, controller: str, name: str) -> bool:
        return (self.dirs[controller] / name).exists()

    def places(self) -> tuple[Path, ...]:
        """The distinct directories, in a fixed order."""
        return tuple(dict.fromkeys(self.dirs.values()))

    def join(self) -> None:
        """Move the calling process in (called between fork and exec)."""
        for place in self.places():
            fd = os.open(place / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)
            os.write(fd, b"0")
            os.close(fd)

    def members(self) -> set[int]:
        """Process ids in the group now; empty when it no longer exists."""
        found: set[int] = set()
        for place in self.places():
            try:
                found.update(int(line) for line in (place / "cgroup.procs").read_text().split())
            except OSError as fault:
                if fault.errno not in (errno.ENOENT, errno.ENODEV):
                    raise
        return found

    def kill(self, seconds: float) -> bool:
        """Freeze, kill and thaw until the group is empty; False when something is left after `seconds`.

        What is frozen forks nothing between the look and the kill; version 1 delivers the kill with the thaw.
        """
        until = time.monotonic() + seconds
        while self.members():
            self.freeze(frozen=True)
            for pid in self.members():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            self.freeze(frozen=False)
            if time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def can_freeze(self) -> bool:
        """Whether the host lets us stop the group's processes."""
        return self._freezer() is not None

    def _freezer(self) -> Path | None:
        first = next(iter(self.dirs.values()), None)
        place = self.dirs.get("freezer") if self.version == 1 else first
        found = place / ("freezer.state" if self.version == 1 else "cgroup.freeze") if place else None
        return found if found is not None and found.exists() else None

    def freeze(self, *, frozen: bool) -> None:
        """Stop or release every process of the group, where the host lets us; killing works without it too."""
        switch = self._freezer()
        if switch is None:
            return
        word = ("FROZEN" if frozen else "THAWED") if self.version == 1 else str(int(frozen))
        with contextlib.suppress(OSError):
            switch.write_text(word)
            if frozen:
                self._await_frozen(switch.parent)

    def _await_frozen(self, place: Path) -> None:
        until = time.monotonic() + _FREEZE_SECONDS
        while time.monotonic() < until:
            if self.version == 1:
                stands = (place / "freezer.state").read_text().strip() == "FROZEN"
            else:
                stands = "frozen 1" in (place / "cgroup.events").read_text()
            if stands:
                return
            time.sleep(0.001)

    def oom_kills(self) -> int:
        """How many processes the kernel killed for memory in this group."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        return self._counter("memory", name, "oom_kill")

    def pids_refused(self) -> int:
        """How many forks the process limit refused."""
        return self._counter("pids", "pids.events", "max")

    def _counter(self, controller: str, name: str, key: str) -> int:
        if controller not in self.dirs:
            return 0
        try:
            lines = (self.dirs[controller] / name).read_text().splitlines()
        except FileNotFoundError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.split()[0] == key), 0)

    def remove(self) -> None:
        """Delete the (empty) group; a group that is gone already is fine."""
        for place in self.places():
            for _ in range(50):
                try:
                    place.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError as fault:
                    if fault.errno != errno.EBUSY:
                        raise
                    time.sleep(0.002)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where this keeper may make groups; version 0 when it may not."""

    version: int
    dirs: dict[str, Path]

    @property
    def controllers(self) -> tuple[str, ...]:
        return tuple(sorted(self.dirs))

    @property
    def label(self) -> str:
        if not self.dirs:
            return "no cgroup"
        return f"cgroup v{self.version} ({', '.join(self.controllers)})"

    def group(self, name: str) -> Group | None:
        """Handle of the episode group called `name`, made or not; None without control groups."""
        if not self.dirs:
            return None
        return Group(self.version, {key: place / name for key, place in self.dirs.items()})

    def make(self, name: str, limits: Limits, besides: Besides) -> Group | None:
        """Make an episode's group with its limits."""
        group = self.group(name)
        if group is not None:
            for place in group.places():
                place.mkdir(exist_ok=True)
            group.limit(limits, besides)
        return group

    def close(self) -> None:
        """Kill and remove every group of this keeper, then its own."""
        for place in dict.fromkeys(self.dirs.values()):
            _remove_tree(self.version, place)


def open_hierarchy() -> Hierarchy:
    """Find what this process may use, sweep groups of dead keepers, make this keeper's own group."""
    name = f"{_PREFIX}{os.getpid()}-{_started(os.getpid())}"
    return _open_unified(name) or _open_separate(name)


def _open_separate(name: str) -> Hierarchy:
    """Version 1: each controller has a hierarchy of its own, and may or may not be ours to use."""
    dirs = {}
    for controller, place in _own_places(version=1):
        if controller in ("memory", "pids", "cpu", "freezer"):
            try:
                _sweep(1, place)
                (place / name).mkdir()
            except OSError:
                continue
            dirs[controller] = place / name
    return Hierarchy(1 if dirs else 0, dirs)


def _open_unified(name: str) -> Hierarchy | None:
    """Version 2: one hierarchy; None where memory and pids are not given to us."""
    for place in (place for _, place in _own_places(version=2)):
        for parent in (place.parent if place.name == _LEAF else place, _mount_of(place)):
            try:
                wanted = _hand_down(parent)
                _sweep(2, parent)
                own = parent / name
                own.mkdir()
                (own / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in wanted))
            except OSError:
                continue
            return Hierarchy(2, dict.fromkeys(wanted, own))
    return None


def _mount_of(place: Path) -> Path:
    return next(path for path in (place, *place.parents) if path.is_mount())


def _hand_down(parent: Path) -> list[str]:
    """Let groups below `parent` have memory, pids and, if possible, cpu; returns which they have.

    The kernel allows that only where `parent` holds no process itself, the true root apart. Processes are
    moved to a leaf only where the whole group was handed to us: by systemd (`Delegate=`) or as the root
    of a container. Raises OSError where it cannot be had.
    """
    offered = (parent / "cgroup.controllers").read_text().split()
    wanted: list[str] = [name for name in ("memory", "pids", "cpu") if name in offered]
    given = (parent / "cgroup.subtree_control").read_text().split()
    if not {"memory", "pids"} <= set(wanted):
        raise OSError(errno.ENOTSUP, "memory or pids not offered")
    if not set(wanted) <= set(given):
        if (parent / "cgroup.type").exists():
            if not (parent.is_mount() or _delegated(parent)):
                raise OSError(errno.EPERM, "the group is not ours")
            (parent / _LEAF).mkdir(exist_ok=True)
            for pid in (parent / "cgroup.procs").read_text().split():
                (parent / _LEAF / "cgroup.procs").write_text(pid)
        (parent / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in wanted))
    return wanted


def _delegated(place: Path) -> bool:
    """Whether systemd marked the group as handed over."""
    for name in ("trusted.delegate", "user.delegate"):
        try:
            if os.getxattr(place, name) == b"1":
                return True
        except OSError:
            continue
    return False


def _own_places(version: int) -> Iterator[tuple[str, Path]]:
    """(controller, directory of the calling process) for each mounted hierarchy; "" in version 2."""
    paths: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path))
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, right = line.split(" - ", 1)
        root, target = left.split()[3:5]
        kind, _, options = right.split()[:3]
        if kind != ("cgroup" if version == 1 else "cgroup2"):
            continue
        for name in options.split(",") if version == 1 else [""]:
            if name in paths:
                inside = paths[name].removeprefix(root if root != "/" else "")
                yield name, Path(target) / inside.lstrip("/")


def _started(pid: int) -> str:
    """The start time of a process in clock ticks: with the id it names a process for ever."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def _sweep(version: int, place: Path) -> None:
    """Remove groups left by keepers that were killed."""
    for child in place.glob(_PREFIX + "*-*"):
        pid, _, started = child.name.removeprefix(_PREFIX).partition("-")
        try:
            alive = _started(int(pid)) == started
        except (OSError, ValueError):
            alive = False
        if not alive:
            _remove_tree(version, child)


def _remove_tree(version: int, place: Path) -> None:
    for child in [*(entry for entry in place.glob("*") if entry.is_dir()), place]:
        group = Group(version, {"": child})
        group.kill(2.0)
        group.remove()
