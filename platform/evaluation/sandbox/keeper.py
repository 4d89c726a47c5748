"""A small process beside each worker that forks one process per episode.

It is started with an empty environment and holds nothing of the worker: no database, no secrets, no
threads. That makes forking cheap and leaves nothing to leak. When the worker dies, however it dies, the
keeper sees its socket close and ends; its children and their sandboxes die with it.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
from dataclasses import replace
from typing import Any

from evaluation.sandbox import kernel, wire
from evaluation.sandbox.box import Cancelled, Host
from evaluation.sandbox.cgroups import Hierarchy, open_hierarchy
from evaluation.sandbox.episode import Episode
from evaluation.sandbox.grading import Grading
from evaluation.sandbox.spec import InfrastructureFault, Kind
from evaluation.sandbox.stage import free_uid

_TEXT = 2_000  # characters of an exception that a worker is told


def main(fd: int) -> None:
    """Serve until the worker closes `fd`: a SOCK_SEQPACKET socket, each message carries one socket."""
    control = socket.socket(fileno=fd)
    greeting = control.recv(1 << 16)
    if not greeting:
        return
    size, _, rest = greeting.partition(b"\n")
    while len(rest) < int(size):
        rest += control.recv(1 << 16)
    kind, tool, program = rest.split(b"\0", 2)
    host = Host(Kind(kind.decode()), os.fsdecode(tool), program, None)
    hierarchy = open_hierarchy()
    control.send(hierarchy.label.encode())
    wake, alarm = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    children: dict[int, int] = {}
    try:
        while True:
            ready = select.select([control.fileno(), wake], [], [])[0]
            if wake in ready:
                os.read(wake, 4096)
                _reap(children, hierarchy)
            if control.fileno() in ready and not _accept(control, host, hierarchy, children):
                return
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
        hierarchy.close()


def _reap(children: dict[int, int], hierarchy: Hierarchy) -> None:
    """Collect ended episode processes and sweep what one that was killed has left; frees their uids."""
    for pid in list(children):
        if os.waitpid(pid, os.WNOHANG)[0]:
            del children[pid]
            group = hierarchy.group(f"e-{pid}")
            if group is not None and any(place.exists() for place in group.places()):
                group.kill(2.0)
                group.remove()


def _accept(control: socket.socket, host: Host, hierarchy: Hierarchy, children: dict[int, int]) -> bool:
    """Fork one episode process for the socket that comes in; False when the worker is gone."""
    data, fds, _, _ = socket.recv_fds(control, 16, 1)
    if not data:
        return False
    for fd in fds:
        uid = free_uid(children.values())
        pid = os.fork()
        if pid == 0:
            try:
                kernel.die_with_parent()
                kernel.adopt_orphans()
                control.close()
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                gc.disable()
                _serve(socket.socket(fileno=fd), replace(host, drop_uid=uid), hierarchy)
            finally:
                os._exit(0)
        os.close(fd)
        children[pid] = uid
    return True


def _serve(worker: socket.socket, host: Host, hierarchy: Hierarchy) -> None:
    """Carry out one request and answer it; a fault of ours is answered by its class and code."""
    try:
        worker.settimeout(None)
        request, blobs = wire.receive(worker)
        wire.send(worker, {"pid": os.getpid()})

        def started(init: int) -> None:
            try:
                wire.send(worker, {"init": init})
            except OSError as fault:
                raise Cancelled from fault

        if request["kind"] == "episode":

            def listening(listener: socket.socket) -> None:
                wire.send(worker, {"listener": True})
                socket.send_fds(worker, [b"l"], [listener.fileno()])

            run = Episode(request, blobs, host, hierarchy, worker.fileno(), started, listening)
            answer, out = run.run()
        else:
            answer, out = Grading(request, blobs, host, hierarchy, worker.fileno(), started).run()
        wire.send(worker, {"answer": answer}, out)
    except Cancelled:
        return
    except InfrastructureFault as fault:
        _tell(worker, {"fault": type(fault).__name__, "text": str(fault)[:_TEXT]})
    except Exception as fault:  # noqa: BLE001 (whatever it was, it was ours: the attempt is retried)
        _tell(worker, {"fault": "InfrastructureFault", "text": f"{type(fault).__name__}: {fault}"[:_TEXT]})


def _tell(worker: socket.socket, head: dict[str, Any]) -> None:
    try:
        wire.send(worker, head)
    except OSError:
        return


if __name__ == "__main__":
    main(int(sys.argv[1]))
