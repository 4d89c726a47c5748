"""The inside of a sandbox in the words of the OCI runtime specification 1.0, for gVisor's runsc.

There is one description of the inside, the bubblewrap arguments that `rootfs` and its callers make: it is translated
here, so that both backends show the same files, sizes, variables and limits. What stands in for the host's /proc is
left out: gVisor has a kernel of its own, whose /proc tells of nothing else.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.sandbox.spec import Limits

VERSION = "1.0.2"
_ALONE = frozenset(
    ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
) | {"--die-with-parent", "--new-session"}
_BY_ITSELF = ("--proc", "--dev", "--remount-ro", "--cap-drop")
_OF_THE_KERNEL = ("dev", "proc", "sys")
_RLIMITS = {
    resource.RLIMIT_CORE: "RLIMIT_CORE",
    resource.RLIMIT_NOFILE: "RLIMIT_NOFILE",
    resource.RLIMIT_FSIZE: "RLIMIT_FSIZE",
    resource.RLIMIT_MEMLOCK: "RLIMIT_MEMLOCK",
    resource.RLIMIT_NPROC: "RLIMIT_NPROC",
    resource.RLIMIT_DATA: "RLIMIT_DATA",
    resource.RLIMIT_AS: "RLIMIT_AS",
}
_POD = "io.kubernetes.cri."
SANDBOX = "pod"
"""Name of the container that makes a sandbox which another one joins."""


@dataclass(slots=True)
class Inside:
    """What the arguments say. `binds`: (source, destination, writable); `folders`: (destination, bytes, mode)."""

    binds: list[tuple[str, str, bool]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    folders: list[tuple[str, int, str]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    hostname: str = ""
    uid: int = 0
    gid: int = 0

    def say(self, word: str, value: str) -> None:
        """One argument that names a single fact. What gVisor does by itself says nothing."""
        match word:
            case "--chdir":
                self.directory = value
            case "--hostname":
                self.hostname = value
            case "--uid":
                self.uid = int(value)
            case "--gid":
                self.gid = int(value)
            case _ if word not in _BY_ITSELF:
                raise ValueError(f"no translation for {word}")


def read(arguments: Sequence[str]) -> Inside:
    """Read bubblewrap arguments; raises ValueError on one that has no translation."""
    inside = Inside()
    words = iter(arguments)
    size, mode = 0, "0755"
    for word in words:
        if word in _ALONE:
            continue
        first = next(words)
        match word:
            case "--ro-bind" | "--bind":
                inside.binds.append((first, next(words), word == "--bind"))
            case "--symlink":
                inside.links.append((first, next(words)))
            case "--size":
                size = int(first)
            case "--perms":
                mode = first
            case "--tmpfs":
                inside.folders.append((first, size, mode))
            case "--setenv":
                inside.variables[first] = next(words)
            case _:
                inside.say(word, first)
    return inside


def spread_root(inside: Inside) -> Inside:
    """A tree shown as / becomes a bind or link for each of its entries: gVisor makes mount points, and it is not ours
    to write to."""
    tree = next((source for source, place, _ in inside.binds if place == "/"), None)
    if tree is None:
        return inside
    taken = {place for _, place, _ in inside.binds} | {place for place, _, _ in inside.folders}
    entries: list[tuple[str, str, bool]] = []
    for entry in sorted(Path(tree).iterdir()):
        place = f"/{entry.name}"
        if place in taken or entry.name in _OF_THE_KERNEL:
            continue
        if entry.is_symlink():
            inside.links.append((str(entry.readlink()), place))
        elif entry.is_dir() or entry.is_file():
            entries.append((str(entry), place, False))
    inside.binds = [*entries, *(bind for bind in inside.binds if bind[1] != "/")]
    return inside


def rlimits(limits: Limits, *, memory_is_bounded: bool) -> dict[int, int]:
    """The bounds that gVisor's kernel sets inside, by number of the resource; see `box` for the same of bubblewrap."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: limits.nofile,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_MEMLOCK: 1 << 16,
        resource.RLIMIT_NPROC: limits.pids,
    }
    if not memory_is_bounded:
        wanted |= {resource.RLIMIT_DATA: limits.memory_bytes, resource.RLIMIT_AS: 4 * limits.memory_bytes}
    return wanted


def configuration(
    inside: Inside, root: str, command: Sequence[str], bounds: Mapping[int, int], *, kind: str = ""
) -> dict[str, Any]:
    """config.json of a container. `kind`: "sandbox" for one that others join, "container" for one that joins."""
    config: dict[str, Any] = {
        "ociVersion": VERSION,
        "process": {
            "user": {"uid": inside.uid, "gid": inside.gid},
            "args": list(command),
            "env": [f"{name}={value}" for name, value in inside.variables.items()],
            "cwd": inside.directory,
            "capabilities": {},
            "rlimits": [
                {"type": _RLIMITS[key], "hard": value, "soft": value} for key, value in bounds.items()
            ],
            "noNewPrivileges": True,
        },
        "root": {"path": root, "readonly": True},
        "hostname": inside.hostname,
        "mounts": list(_mounts(inside)),
        "linux": {"namespaces": [{"type": name} for name in ("pid", "network", "ipc", "uts", "mount")]},
    }
    if kind:
        config["annotations"] = {f"{_POD}container-type": kind, f"{_POD}sandbox-id": SANDBOX}
    return config


def shown(inside: Inside) -> list[tuple[str, str, bool]]:
    """The binds that are mounted: of /proc only what states the episode's own limits."""
    return [
        (source, place, writable)
        for source, place, writable in inside.binds
        if not place.startswith("/proc/") or place == "/proc/meminfo"
    ]


def _mounts(inside: Inside) -> list[dict[str, Any]]:
    proc = {
        "destination": "/proc",
        "type": "proc",
        "source": "proc",
        "options": ["nosuid", "nodev", "noexec", "ro"],
    }
    # Left to itself runsc would show a /sys.
    empty = [("/sys", 4096, "0555")]
    found: list[dict[str, Any]] = [proc]
    for place, size, mode in [*empty, *inside.folders]:
        options = ["nosuid", "nodev", f"mode={mode}", f"size={size}", *(["ro"] if place == "/sys" else [])]
        found.append({"destination": place, "type": "tmpfs", "source": "tmpfs", "options": options})
    for source, place, writable in shown(inside):
        options = ["rbind", "nosuid", "nodev", "rw" if writable else "ro"]
        found.append({"destination": place, "type": "bind", "source": source, "options": options})
    return found


def lay_out(inside: Inside, root: Path) -> None:
    """Make the root in an empty folder: mount points and links, nothing else."""
    places = [place for place, _, _ in inside.folders]
    binds = shown(inside)
    for name in ("/proc", "/dev", "/sys", *places):
        _below(root, name).mkdir(parents=True, exist_ok=True)
    for source, place, _ in sorted(binds, key=lambda bind: bind[1]):
        if any(place.startswith(f"{other}/") for _, other, _ in binds) or place.startswith("/proc/"):
            continue
        target = _below(root, place)
        if Path(source).is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
    for target_of, place in inside.links:
        _below(root, place).symlink_to(target_of)


def _below(root: Path, place: str) -> Path:
    return root / place.lstrip("/")
