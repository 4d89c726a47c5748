"""What the inside of a sandbox looks like: fixed neutral paths, names and environment.

The embedded default shows the host's /usr read-only and the platform's copy of the interpreter under
/opt/python; everything else is made here. With a root of its own (an unpacked image, the official root) that
tree is shown read-only, and neither the host's /usr nor our interpreter. Returned as bubblewrap arguments,
which travel over a file descriptor so that no host path stands in a command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaluation.images import places
from evaluation.sandbox import launcher
from evaluation.sandbox.spec import Root

NOT_OFFICIAL = "not the official root"
ISOLATION = f"embedded, {NOT_OFFICIAL}"
HOME, UID = places.HOME, places.UID
TMP_BYTES = 128 << 20
SHM_BYTES = 64 << 20
START_INSIDE = f"/{places.START}"
_TOPS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC_OF_HOST = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")


def isolation(root: Root | None) -> str:
    """What the isolation grade of a run says of the root file system."""
    return root.label if root else ISOLATION


def opening(command: str) -> tuple[str, ...]:
    """What starts `command` in a root whose shell is not the platform's. Raises SandboxUnavailable."""
    launcher.require()
    return (START_INSIDE, *launcher.candidates(command, environment()["PATH"]), "")


def base_arguments(stage: Path, covers: Mapping[str, str], root: Path | None = None) -> list[str]:
    """Namespaces, root file system, /proc, /dev, /tmp and /dev/shm. The network is the caller's (`stage`).

    `root` is the tree to show in place of the host's, with all mount points (`images.places`) in it.
    Below `stage` lie `python` and `masks` as `runtime.ensure` made them, and `meminfo`; `covers` as
    `masks.covers` gives it.
    """
    python = stage / "python"
    arguments = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    arguments += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    arguments += ["--uid", str(UID), "--gid", str(UID), "--hostname", "sandbox"]
    arguments += _own_root(python, root) if root else _hosts_root(python)
    # /proc/sys again, read-only: where the kernel uid were 0 it would be the host's settings.
    arguments += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    for name, source in covers.items():
        arguments += ["--ro-bind", str(stage / "masks" / source), f"/proc/{name}"]
    arguments += ["--ro-bind", str(stage / "meminfo"), "/proc/meminfo"]
    arguments += ["--perms", "1777", "--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"]  # noqa: S108 (inside)
    arguments += ["--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]  # noqa: S108 (inside)
    return arguments


def _hosts_root(python: Path) -> list[str]:
    arguments: list[str] = []
    for target, path in links_of_the_host():
        arguments += ["--symlink", target, path]
    for source, path, _ in binds_of_the_host(python):
        arguments += ["--ro-bind", source, path]
    return arguments


def links_of_the_host() -> list[tuple[str, str]]:
    """(target, path) of those folders at the top that lead into /usr."""
    tops = [Path("/", name) for name in _TOPS]
    return [(str(path.readlink()), str(path)) for path in tops if path.is_symlink()]


def binds_of_the_host(python: Path) -> list[tuple[str, str, bool]]:
    """(source, path, False: for reading only) of the host's programs, our /etc and the interpreter."""
    found = [("/usr", "/usr")]
    found += [
        (path, path)
        for path in (f"/{name}" for name in _TOPS)
        if Path(path).is_dir() and not Path(path).is_symlink()
    ]
    found += [(str(python / "etc"), "/etc")]
    found += [(path, path) for path in _ETC_OF_HOST if Path(path).exists()]
    return [(source, path, False) for source, path in [*found, (str(python), "/opt/python")]]


def _own_root(python: Path, root: Path) -> list[str]:
    """The tree, with the platform's names and its launcher over what stands there."""
    arguments = ["--ro-bind", str(root), "/"]
    for name in places.ETC:
        arguments += ["--ro-bind", str(python / "etc" / name), f"/etc/{name}"]
    return [*arguments, "--ro-bind", str(python / "sbin" / "start"), f"/{places.START}"]


def closing_arguments(environment: Mapping[str, str], directory: str) -> list[str]:
    """Seal what bubblewrap itself leaves writable and unbounded, set environment and directory."""
    arguments = ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", directory]
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    return arguments


def environment() -> dict[str, str]:
    """The variables every command finds, whatever it runs for."""
    return {
        "PATH": "/opt/python/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


ETC_FILES = places.ETC
ETC_MOUNT_POINTS = {"ld.so.cache": "file", "alternatives": "dir", "fonts": "dir"}
