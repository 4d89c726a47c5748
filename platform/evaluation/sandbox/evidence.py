"""What the self-test lays out on the host, and what the host can see of a sandbox: processes, printed figures."""

from __future__ import annotations

import contextlib
import io
import json
import secrets
import socket
import tarfile
from collections.abc import Iterator
from pathlib import Path

_GVISOR = ("runsc", "runsc-gofer", "runsc-sandbox", "exe")


def running_with(token: str) -> bool:
    """Whether any process of this host carries `token` in its command line."""
    return any(True for _ in carrying(token))


def carrying(token: str) -> Iterator[Path]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if token.encode() in path.read_bytes():
                yield path.parent


def tools_of(keeper: int) -> Iterator[Path]:
    """Entries in /proc of gVisor's own processes below a keeper: its kernel, its file server, what they trace."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    for pid in parents:
        above = parents.get(pid)
        while above and above != keeper:
            above = parents.get(above)
        with contextlib.suppress(OSError):
            if above == keeper and Path(f"/proc/{pid}/comm").read_text().strip() in _GVISOR:
                yield Path(f"/proc/{pid}")


def figures_in(stdout: bytes) -> dict[str, object]:
    figures: dict[str, object] = {}
    for line in stdout.splitlines():
        with contextlib.suppress(ValueError):
            found = json.loads(line[line.find(b"{") :])
            figures.update(found)
    return figures


@contextlib.contextmanager
def host_listeners(scratch: Path) -> Iterator[dict[str, object]]:
    """Listeners on this host that nobody inside may reach: TCP, a socket file, an abstract socket."""
    abstract = f"lingee-selftest-{secrets.token_hex(8)}"
    place = str(scratch / "socket")
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (place, "\0" + abstract):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        yield {"host_port": tcp.getsockname()[1], "host_socket": place, "host_abstract": abstract}


def empty_tar() -> bytes:
    """An archive of nothing."""
    buffer = io.BytesIO()
    tarfile.open(fileobj=buffer, mode="w").close()
    return buffer.getvalue()
