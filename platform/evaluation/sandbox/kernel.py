"""The few Linux calls Python 3.11 has no wrapper for. Each raises OSError with the kernel's errno."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SIOCSIFFLAGS = 0x8914
_IFF_UP, _IFF_RUNNING = 0x1, 0x40

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags`."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount as mount(2); `kind` None for a bind or a change of propagation."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        options.encode() if options else None,
    )
    _check(result, f"mount {target}")


def raise_loopback() -> None:
    """Switch on the loopback device of this process's network namespace, as a new one has it switched off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh22x", b"lo", _IFF_UP | _IFF_RUNNING)
        fcntl.ioctl(sock, _SIOCSIFFLAGS, request)


def die_with_parent() -> None:
    """Ask for SIGKILL when the thread that made this process ends (cleared by a change of uid)."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that they can be reaped here."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def no_new_privileges() -> None:
    """Make set-uid bits and file capabilities worthless from here on."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
