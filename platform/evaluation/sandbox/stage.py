"""The private mount namespace of one episode process, and what every run in it shares.

Layout below the stage (a small tmpfs over an existing directory, seen by this process and its sandboxes
alone): `python/`, `masks/`, `grader/`, `harness/` (binds), `meminfo`, `task/` (texts), `files/` (the
size-limited tmpfs). Everything goes when the process ends, however it ends.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from evaluation.sandbox import kernel
from evaluation.sandbox.spec import SandboxUnavailable

_PLACES = ("/mnt", "/media", "/srv", "/tmp")  # noqa: S108 (covered by a tmpfs of our own)
_STAGE_BYTES = 64 << 20
INODES = 65_536
# A wide range and no order: neither the number nor how it changes says how many runs there were.
_FIRST_UID, _UIDS = 100_000, 1 << 30


@dataclass(frozen=True, slots=True)
class Identity:
    """`drop_uid` is the real uid to run sandboxes under (root only); `owner` owns the files inside."""

    drop_uid: int | None
    owner: int


def free_uid(taken: Collection[int]) -> int:
    """A random uid that is not in `taken`, those of this keeper's live sandboxes."""
    while (uid := _FIRST_UID + secrets.randbelow(_UIDS)) in taken:
        continue
    return uid


def enter_namespace(drop: int | None) -> Identity:
    """Leave the host's mounts and network; as an ordinary user by way of a user namespace of our own.

    The network has a loopback device and nothing else. It is made here and not by the tool, so that it lasts over
    the turns of an episode and the worker can listen in it; who runs inside holds no right over it.

    Root takes the uid `drop`, which no other live sandbox has (see `free_uid`), so that neither files nor
    signals nor per-user counters are shared. Raises SandboxUnavailable when the kernel refuses.
    """
    uid, gid = os.geteuid(), os.getegid()
    try:
        if uid == 0:
            kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWNET)
        else:
            kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWNET)
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        kernel.raise_loopback()
    except OSError as fault:
        raise SandboxUnavailable(f"no namespaces for uid {uid}: {fault.strerror}") from fault
    drop = drop if uid == 0 else None
    return Identity(drop, uid if drop is None else drop)


class Stage:
    """Builds the layout. Paths given to `bind` are looked up before the stage covers its directory."""

    def __init__(self, binds: dict[str, Path]) -> None:
        self.root = next(Path(place) for place in _PLACES if Path(place).is_dir())
        handles = {
            name: os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) for name, path in binds.items()
        }
        _tmpfs(self.root, _STAGE_BYTES)
        for name, handle in handles.items():
            target = self.root / name
            target.mkdir(mode=0o755)
            kernel.mount(f"/proc/self/fd/{handle}", str(target), None, kernel.MS_BIND | kernel.MS_REC)
            os.close(handle)

    def path(self, name: str) -> Path:
        return self.root / name

    def folder(self, name: str, owner: int | None = None) -> Path:
        """Make a directory, given to `owner` where one is named."""
        made = self.root / name
        made.mkdir(mode=0o755)
        if owner is not None:
            os.chown(made, owner, owner)
        return made

    def limited(self, name: str, size: int) -> Path:
        """Mount a tmpfs of at most `size` bytes."""
        made = self.folder(name)
        _tmpfs(made, size)
        return made

    def write(self, name: str, content: bytes) -> None:
        """Write a file that everybody may read."""
        path = self.root / name
        path.write_bytes(content)
        path.chmod(0o644)


def _tmpfs(target: Path, size: int) -> None:
    options = f"size={size},nr_inodes={INODES},mode=0755"
    kernel.mount("tmpfs", str(target), "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def is_full(path: Path) -> bool:
    """Whether a tmpfs has no block or no inode left."""
    facts = os.statvfs(path)
    return facts.f_bavail == 0 or facts.f_favail == 0
