"""Fixed contents in place of what /proc tells about the whole host, the same in every episode.

A counter of the host that one episode can move and another can read is a channel between them, and tells
what else runs. Every top-level file of /proc that anybody may read is covered unless it is listed in
`_FIXED` as constant, so that a kernel's new counter is covered too; so are the folders in `_FOLDERS`.
`meminfo` is written per episode, from the episode's own limits (see `meminfo`).

What a mount cannot cover, because it hangs below each process's own folder or comes with the file itself,
and so still differs between episodes or moves with the host: /proc/<pid>/net/{sockstat,protocols,softnet_stat}
(sockets and packets of the host); mount ids and the minor numbers of in-memory file systems in
/proc/self/mountinfo, the random owner id in its tmpfs options, and in its fourth field where this host keeps
the bundle, the interpreter and the masks (the same for every episode of a package); the inode numbers of
pipes, sockets and namespaces; start times and clocks; which processors there are and how fast caches
answer. Two vendors therefore never share a kernel in production.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

from evaluation.sandbox.spec import Limits

# Constant while the kernel runs, and read by programs. Left as they are.
_FIXED = """
config.gz consoles devices dma execdomains fb filesystems iomem ioports kallsyms misc mtrr partitions
version version_signature
"""
_OWN = "meminfo"
_FOLDERS = ("fs", "irq", "pressure", "sys/fs")
_NESTED = ("sys/kernel/pty/nr",)
_EMPTY = "empty"
_PRESSURE = "".join(f"{who} avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" for who in ("some", "full"))
_STARTED = 1_577_836_800


def contents() -> dict[str, str]:
    """Relative path → text of every file that stands in for one of /proc (or an empty one)."""
    found = {
        _EMPTY: "",
        "stat": _stat(os.cpu_count() or 1),
        "cpuinfo": _cpuinfo(),
        "loadavg": "0.00 0.00 0.00 1/2 2\n",
        "uptime": "86400.00 86400.00\n",
        "vmstat": "nr_free_pages 0\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault 0\npgmajfault 0\n",
        "swaps": "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
        "cgroups": "#subsys_name\thierarchy\tnum_cgroups\tenabled\n",
        "sys/kernel/pty/nr": "0\n",
        "sys/fs/overflowuid": "65534\n",
        "sys/fs/overflowgid": "65534\n",
    }
    found |= {f"pressure/{name}": _PRESSURE for name in ("cpu", "io", "memory")}
    for name, value in (("file-max", 1 << 20), ("nr_open", 1 << 20), ("pipe-max-size", 1 << 20)):
        found[f"sys/fs/{name}"] = f"{value}\n"
    found |= {
        "sys/fs/file-nr": f"1024\t0\t{1 << 20}\n",
        "sys/fs/inode-nr": "1024\t0\n",
        "sys/fs/inode-state": "1024\t0\t0\t0\t0\t0\t0\n",
        "sys/fs/dentry-state": "1024\t0\t45\t0\t0\t0\n",
    }
    return found


def _stat(processors: int) -> str:
    def line(name: str, factor: int) -> str:
        return f"{name} {1000 * factor} 0 {1000 * factor} {8_640_000 * factor} 0 0 0 0 0 0\n"

    each = "".join(line(f"cpu{number}", 1) for number in range(processors))
    return (
        f"{line('cpu ', processors)}{each}intr 0\nctxt 0\nbtime {_STARTED}\nprocesses 2\n"
        "procs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n"
    )


def _cpuinfo() -> str:
    """The host's own, whose only moving part is the clock rate of the moment."""
    text = Path("/proc/cpuinfo").read_text()
    return re.sub(r"(?m)^((?:cpu MHz|bogomips)\s*: ).*$", r"\g<1>2000.000", text, flags=re.IGNORECASE)


def meminfo(limits: Limits) -> str:
    """/proc/meminfo of a machine that has just what the episode may use."""
    total = limits.memory_bytes >> 10
    figures = {"MemTotal": total, "MemFree": total, "MemAvailable": total}
    rest = "Buffers Cached SwapCached Active Inactive SwapTotal SwapFree Dirty AnonPages Mapped Shmem Slab"
    figures |= dict.fromkeys(rest.split(), 0)
    return "".join(f"{name + ':':<16}{value:>8} kB\n" for name, value in figures.items())


def digest() -> str:
    """Names a folder that holds `contents`."""
    return hashlib.sha256(repr(sorted(contents().items())).encode()).hexdigest()[:32]


def write(target: Path) -> None:
    """Make the folder that `covers` refers to."""
    for name in _FOLDERS:
        (target / name).mkdir(parents=True, exist_ok=True)
    for name, text in contents().items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def covers() -> dict[str, str]:
    """Path below /proc → path below the folder of masks, for what this kernel has, in the order to mount."""
    known = contents()
    with os.scandir("/proc") as entries:
        files = sorted(entry.name for entry in entries if _readable_file(entry))
    left_out = {_OWN, *_FIXED.split()}
    wanted = {name: name if name in known else _EMPTY for name in files if name not in left_out}
    for name in (*_FOLDERS, *_NESTED):
        if Path("/proc", name).exists():
            wanted[name] = name
    # Each mount costs every start about 0.1 ms: none for what cannot move here.
    if len(Path("/proc/swaps").read_text().splitlines()) < 2:
        wanted.pop("swaps", None)
    if os.geteuid() == 0:
        wanted.pop("key-users", None)  # shows the own uid's keys only, and each sandbox has a uid of its own
    return wanted


def _readable_file(entry: os.DirEntry[str]) -> bool:
    """Whether anybody may read it; what only root may read stays closed inside, where nobody is root."""
    mode = entry.stat(follow_symlinks=False).st_mode if not entry.name.isdigit() else 0
    return stat.S_ISREG(mode) and bool(mode & stat.S_IROTH)


def expected(limits: Limits) -> dict[str, str]:
    """Absolute path → text that must be read inside, for the self-test."""
    known = contents()
    found = {f"/proc/{name}": known[source] for name, source in covers().items() if source in known}
    for name in _FOLDERS:
        if Path("/proc", name).exists():
            found |= {f"/proc/{path}": text for path, text in known.items() if path.startswith(f"{name}/")}
    return found | {"/proc/meminfo": meminfo(limits)}
