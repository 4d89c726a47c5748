"""Runs INSIDE a sandbox and tries to get out; standard library only, run by path or with -c.

Usage: inside.py '<json settings>'. Prints one JSON object {probe: [passed, detail]}; passed is true when
the attempt FAILED as it must. Where /grade/out exists the same text is written there as the reward.
"""

# It looks at descriptors and paths as the kernel does, and ends at once.
# ruff: noqa: PTH108, PTH110, PTH112, PTH115, PTH118, PTH123, PTH208, SIM115

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

SETTINGS: dict[str, Any] = json.loads(sys.argv[1])
RESULTS: dict[str, list[object]] = {}
SECONDS = 0.3
# gVisor: what answers in here is a kernel of the sandbox's own, which shares nothing with another sandbox.
SHM = "/dev/shm"  # noqa: S108 (inside)
OWN_KERNEL: bool = SETTINGS["own_kernel"]


def probe(function: Callable[[], list[str]]) -> None:
    """Run one probe at once; an exception inside it is a failed probe, never a lost report."""
    try:
        trouble = function()
        RESULTS[function.__name__] = [not trouble, "; ".join(map(str, trouble or []))[:300]]
    except Exception as fault:  # noqa: BLE001 (reported, as it says)
        RESULTS[function.__name__] = [False, f"{type(fault).__name__}: {fault}"[:300]]


def reached(family: int, kind: int, address: object) -> str | None:
    """None when nothing could be sent to `address`, else what worked."""
    try:
        with socket.socket(family, kind) as sock:
            sock.settimeout(SECONDS)
            if kind == socket.SOCK_STREAM:
                sock.connect(address)  # type: ignore[arg-type]
            else:
                sock.sendto(b"x", address)  # type: ignore[call-overload]
    except OSError as fault:
        return None if not isinstance(fault, TimeoutError) else f"{address} was not refused at once"
    return f"{address} reached"


def opened(family: int, kind: int, protocol: int) -> str | None:
    try:
        socket.socket(family, kind, protocol).close()
    except OSError:
        return None
    return f"socket({family}, {kind}, {protocol}) opened"


def found(*attempts: str | bool | None) -> list[str]:
    return [text for text in attempts if isinstance(text, str)]


@probe
def tcp() -> list[str]:
    stream = socket.SOCK_STREAM
    return found(
        reached(socket.AF_INET, stream, ("1.1.1.1", 443)),
        reached(socket.AF_INET, stream, ("169.254.169.254", 80)),
        reached(socket.AF_INET, stream, ("10.0.0.1", 22)),
        reached(socket.AF_INET, stream, ("127.0.0.1", SETTINGS["host_port"])),
    )


@probe
def udp_and_dns() -> list[str]:
    with contextlib.suppress(OSError):
        return [f"resolved {socket.getaddrinfo('example.com', 80)[0][4]}"]
    return found(
        reached(socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53)),
        reached(socket.AF_INET, socket.SOCK_DGRAM, ("255.255.255.255", 9)),
    )


@probe
def ipv6() -> list[str]:
    return found(
        reached(socket.AF_INET6, socket.SOCK_STREAM, ("2606:4700:4700::1111", 443)),
        reached(socket.AF_INET6, socket.SOCK_DGRAM, ("ff02::1%lo", 9)),
        reached(socket.AF_INET6, socket.SOCK_STREAM, ("::1", SETTINGS["host_port"])),
    )


@probe
def icmp_and_raw() -> list[str]:
    wanted: list[tuple[int, int, int]]
    wanted = [(socket.AF_INET, kind, number) for kind in (2, 3) for number in (1, 255)]
    wanted += [(socket.AF_INET6, kind, 58) for kind in (2, 3)] + [(17, 3, 0x0300), (17, 2, 0x0300)]
    if OWN_KERNEL:  # its pings reach its own loopback only, as all its packets
        wanted = [triple for triple in wanted if triple not in ((2, 2, 1), (10, 2, 58))]
    return found(*(opened(*triple) for triple in wanted))


@probe
def socket_families() -> list[str]:
    """vsock, netlink, AF_ALG and the rest: everything but UNIX, INET, INET6."""
    own = (16,) if OWN_KERNEL else ()
    families = [number for number in range(64) if number not in (1, 2, 10, *own)]
    return found(*(opened(family, kind, 0) for family in families for kind in (1, 2, 3, 5)))


@probe
def netlink_protocols() -> list[str]:
    own = (0, 15) if OWN_KERNEL else ()  # of its own interfaces and events
    return found(*(opened(16, kind, number) for kind in (2, 3) for number in range(24) if number not in own))


@probe
def unix_sockets_of_the_host() -> list[str]:
    paths = ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"]
    paths += ["/run/dbus/system_bus_socket", SETTINGS["host_socket"]]
    names = ["\0" + SETTINGS["host_abstract"], "\0/tmp/.X11-unix/X0"]
    return found(*(reached(socket.AF_UNIX, socket.SOCK_STREAM, place) for place in paths + names))


@probe
def interfaces() -> list[str]:
    names = [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
    routes = open("/proc/net/route").read().splitlines()[1:]
    return found(names != ["lo"] and f"interfaces {names}", bool(routes) and "routes exist")


@probe
def kernel_settings_read_only() -> list[str]:
    paths = [os.path.join(top, name) for top, _, names in os.walk("/proc/sys") for name in names]
    paths += ["/proc/sysrq-trigger", "/proc/self/oom_score_adj_none", "/proc/irq/default_smp_affinity"]
    writable = []
    for path in paths:
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        writable.append(f"{path} opened for writing")
    try:
        with open("/proc/sys/kernel/core_pattern", "w") as file:
            file.write("|/sandbox/escaped")
        writable.append("core_pattern written")
    except OSError:
        pass
    return writable + ([] if OWN_KERNEL or len(paths) > 100 else ["/proc/sys was not seen"])


@probe
def system_calls() -> list[str]:
    """Each must answer EPERM or ENOSYS when called with arguments that would at worst be EINVAL."""
    libc = ctypes.CDLL(None, use_errno=True)
    allowed = []
    for name, number in SETTINGS["calls"].items():
        ctypes.set_errno(0)
        first = 0x10000000 if name == "unshare" else 0
        result = libc.syscall(ctypes.c_long(number), ctypes.c_long(first), *[ctypes.c_long(0)] * 5)
        if result != -1 or (not OWN_KERNEL and ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS)):
            allowed.append(f"{name}: {result} {errno.errorcode.get(ctypes.get_errno())}")
    return allowed


@probe
def kernel() -> list[str]:
    """Whose kernel answers: the host's, or one that is not."""
    same = os.uname().release == SETTINGS["release"]
    return found(OWN_KERNEL and same and "the host's kernel answers")


@probe
def privileges() -> list[str]:
    status = dict(
        line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line
    )
    return found(
        *(
            int(status.get(name, "0"), 16) != 0 and f"{name} {status[name]}"
            for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")
        ),
        not OWN_KERNEL and status["NoNewPrivs"] != "1" and "new privileges possible",
        not OWN_KERNEL and status["Seccomp"] != "2" and "no filter",
        status["Groups"].strip() not in ("", "0", "1000", "65534") and f"groups {status['Groups']}",
        os.getuid() != SETTINGS["uid"] and f"uid {os.getuid()}",
    )


@probe
def environment() -> list[str]:
    """Only what the contract lists; the launcher's environment is empty and no process carries the marker."""
    surplus = set(os.environ) - set(SETTINGS["variables"]) - {"PWD", "LC_CTYPE"}
    trouble = [f"variable {name}" for name in surplus]
    marker = SETTINGS["marker_reversed"][::-1].encode()
    for pid in (name for name in os.listdir("/proc") if name.isdigit()):
        for part in ("environ", "cmdline", "maps"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/{part}", "rb") as file:
                content = file.read()
                if marker in content:
                    trouble.append(f"marker in /proc/{pid}/{part}")
                if pid == "1" and part == "environ" and content and os.getpid() != 1:
                    trouble.append("/proc/1/environ is not empty")
    return trouble


@probe
def processes_of_the_host() -> list[str]:
    seen = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
    names = [open(f"/proc/{pid}/comm").read().strip() for pid in seen]
    return found(seen[0] != 1 and "no PID 1", len(seen) > 3 and f"{len(seen)} processes {names}")


@probe
def descriptors() -> list[str]:
    trouble = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{name}")
            if int(name) > 2 and not target.startswith(("/harness/", "/proc/")):
                trouble.append(f"{name} -> {target}")
            if int(name) <= 2 and not target.startswith(
                ("pipe:", "/dev/null", *(["host:["] if OWN_KERNEL else []))
            ):
                trouble.append(f"{name} -> {target}")
    return trouble


@probe
def files_of_the_host() -> list[str]:
    absent = ["/root", "/work", "/var", "/run", "/mnt", "/sys", "/boot", "/srv", "/media", "/etc/shadow"]
    absent += [
        "/etc/resolv.conf",
        "/etc/ssh",
        "/proc/1/root/root",
        "/proc/self/root/work",
        "/dev/mem",
        "/dev/kmsg",
    ]
    absent += ["/dev/vda", "/dev/kvm", "/dev/fuse", "/dev/net/tun", *SETTINGS["absent"]]
    absent += ["/harness/../work", "/workspace/../root"]
    own = ("/sys", "/dev/fuse", "/dev/net/tun") if OWN_KERNEL else ()
    there = [path for path in absent if os.path.exists(path) and path not in own]
    there += [f"/sys/{name}" for name in (os.listdir("/sys") if OWN_KERNEL else [])]
    told = ["/proc/keys"] if OWN_KERNEL else ["/proc/cmdline", "/proc/keys"]
    there += [path for path in told if os.path.exists(path) and open(path).read()]
    homes = [f"/home/{name}" for name in os.listdir("/home")] if os.path.isdir("/home") else []
    return there + [path for path in homes if path != "/home/agent"]


@probe
def nothing_else_writable() -> list[str]:
    allowed = [*SETTINGS["writable"], *(("/dev", SHM) if OWN_KERNEL else ())]
    trouble = []
    for path in [
        "/",
        "/usr",
        "/etc",
        "/opt",
        "/opt/python",
        "/home",
        "/dev",
        "/proc",
        "/proc/self",
        *SETTINGS["read_only"],
    ]:
        target = os.path.join(path, "probe-file")
        with contextlib.suppress(OSError):
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT))
            trouble.append(f"{path} is writable")
    for line in open("/proc/self/mountinfo"):
        fields = line.split()
        writable = "rw" in fields[5].split(",") and not fields[4].startswith(("/dev/", "/proc"))
        if writable and fields[4] not in allowed:
            trouble.append(f"{fields[4]} mounted for writing")
    for path in SETTINGS["must_write"]:
        with open(os.path.join(path, ".probe"), "w") as file:
            file.write("x")
        os.unlink(os.path.join(path, ".probe"))
    return trouble


@probe
def neutral_names() -> list[str]:
    trouble = found(socket.gethostname() != "sandbox" and f"host name {socket.gethostname()}")
    groups = {line.strip().rpartition(":")[2] for line in open("/proc/self/cgroup")}
    return trouble + [f"control group {name}" for name in groups if name != "/"]


@probe
def sizes() -> list[str]:
    """The in-memory file systems have the sizes the manifest states (statfs is refused: read as mounted)."""
    if OWN_KERNEL:
        seen = {path: os.statvfs(path) for path in SETTINGS["sizes"]}
        real = {path: facts.f_blocks * facts.f_frsize for path, facts in seen.items()}
        return [f"{path} has {real[path]}" for path, size in SETTINGS["sizes"].items() if real[path] != size]
    found = {}
    for line in open("/proc/self/mountinfo"):
        options = dict(part.partition("=")[::2] for part in line.split()[-1].split(","))
        found[line.split()[4]] = options.get("size", "none")
    wanted = {path: f"{size >> 10}k" for path, size in SETTINGS["sizes"].items()}
    return [f"{path} has {found.get(path)}" for path, size in wanted.items() if found.get(path) != size]


@probe
def counters_of_the_host() -> list[str]:
    """What /proc says about the whole host is the fixed text that stands in for it."""
    trouble = []
    for path, text in SETTINGS["masked"].items():
        with open(path) as file:
            if file.read() != text:
                trouble.append(path)
    return trouble if SETTINGS["masked"] else ["nothing is masked"]


@probe
def shared_files() -> list[str]:
    """Locks on a file of the host succeed and lock nothing; leases, notification and hints are refused."""
    if OWN_KERNEL:
        return []  # its locks and watches are its own: see the probe of two sandboxes
    first, second = (os.open("/usr/bin/env", os.O_RDONLY) for _ in range(2))
    libc = ctypes.CDLL(None, use_errno=True)
    trouble = []
    for fd in (first, second):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as fault:
            trouble.append(f"locks: {fault}")
    for name, command in (("lease", 1024), ("notify", 1026), ("set hint", 1036), ("get hint", 1035)):
        with contextlib.suppress(OSError):
            fcntl.fcntl(first, command, 0 if command != 1036 else bytes(8))
            trouble.append(name)
    for name in ("inotify_init", "inotify_init1"):
        if getattr(libc, name)(0) >= 0:
            trouble.append(name)
    for fd in (first, second):
        os.close(fd)
    return trouble


TEXT = json.dumps(RESULTS)
if os.path.isdir("/grade/out"):
    with open("/grade/out/reward.json", "w") as out:
        out.write(TEXT)
else:
    print(TEXT)
