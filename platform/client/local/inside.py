"""Starts a command in a network of its own, in which the one who asked for it listens: nothing else can be reached.

Run as `python -m client.local.inside FD -- COMMAND…`; the listener is handed over through the Unix socket FD, then this
process becomes the command, with nothing of this machine's environment.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from evaluation.gateway.contract import PORT
from evaluation.sandbox import kernel

REFUSED = 125
"""Exit code where the kernel makes no such network."""
BACKLOG = 64


def enter() -> None:
    """Leave this machine's network; an ordinary user by way of a user namespace. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        kernel.unshare(kernel.CLONE_NEWNET)
    else:
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    kernel.raise_loopback()


def main(arguments: list[str]) -> int:
    """Hand the listener over and become the command; returns only where that is not possible."""
    handle, command = int(arguments[0]), arguments[2:]
    try:
        enter()
        place = ("127.0.0.1", PORT)
        with socket.socket(fileno=handle) as way, socket.create_server(place, backlog=BACKLOG) as listener:
            socket.send_fds(way, [b"l"], [listener.fileno()])
        os.execve(command[0], command, {"PATH": os.defpath})  # noqa: S606 - becomes it, with a clean environment
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
