"""Starts one prepared stage under gVisor (runsc), with the same signs of life as bubblewrap gives.

The process forked for it by `box` gives up its real uid, makes namespaces of its own and forks their PID 1, which
lays out an OCI bundle on a tmpfs, starts the relay to the model gateway where the episode has one, and runs the
harness. Whatever runsc starts lives below that PID 1: to kill it is to kill all. Works for root and for an ordinary
user; the sandbox's network is gVisor's own, with a loopback device and nothing else.

runsc hands on standard descriptors only, so the byte that tells that the command begins comes through descriptor 0,
which is /dev/null before the command runs (see `launcher`).
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.sandbox import kernel, launcher, oci, rootfs
from evaluation.sandbox.cgroups import Besides
from evaluation.sandbox.control import PORT
from evaluation.sandbox.spec import MIB, Limits

# What gVisor needs besides the harness in the same control group: its kernel, its file server, the relay, and their
# threads; a low bound of processes would take down its kernel instead of refusing a fork.
BESIDES = Besides(pids=1024, memory_bytes=32 * MIB)
START = "/opt/python/sbin/start-runsc"
SOCKET = "/gateway/socket"
_RELAY_UID = 2000
_OPTIONS = ("--root=/run/state", "--network=none", "--platform=ptrace", "--rootless", "--ignore-cgroups")
_ROOMS = "/run"
_ROOM_BYTES = 16 << 20
_OTHER_UID = 1 << 31
"""Added to the sandbox's uid: what gVisor's own processes run as, so that files of the harness are another user's."""
_RELAY = f"""
import os, socket, threading
def pump(one, other):
    try:
        while data := one.recv(1 << 16):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (one, other):
            try: end.shutdown(socket.SHUT_RDWR)
            except OSError: pass
def serve(client):
    with client, socket.socket(socket.AF_UNIX) as gateway:
        gateway.connect({SOCKET!r})
        back = threading.Thread(target=pump, args=(gateway, client), daemon=True)
        back.start()
        pump(client, gateway)
        back.join()
listener = socket.create_server(("127.0.0.1", {PORT}), backlog=64)
os.write(1, b"x")
os.close(1)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


@dataclass(frozen=True, slots=True)
class Request:
    """One run: the tool, the inside as bubblewrap arguments, what starts the command there, its limits."""

    tool: str
    arguments: Sequence[str]
    command: Sequence[str]
    limits: Limits
    memory_is_bounded: bool
    drop_uid: int | None
    gateway: Path | None


def opening(command: str) -> tuple[str, ...]:
    """What starts `command` on the host's root. Raises SandboxUnavailable on another processor."""
    launcher.require()
    return (START, *launcher.candidates(command, rootfs.environment()["PATH"]), "")


def run(request: Request, status: int) -> int:
    """Run to the end and report as bubblewrap does, in lines of JSON on `status`; returns the exit code.

    Called in a process forked for it whose descriptors 0 to 2 are the sandbox's.
    """
    _enter(request.drop_uid)
    init = os.fork()
    if init == 0:
        os.close(status)
        try:
            os._exit(_first(request))
        except BaseException as fault:  # noqa: BLE001 (the last thing this process says)
            os.write(2, f"before runsc: {type(fault).__name__}: {fault}".encode())
        os._exit(125)
    os.close(0)
    os.write(status, json.dumps({"child-pid": init}).encode() + b"\n")
    code = os.waitstatus_to_exitcode(os.waitpid(init, 0)[1])
    code = 128 - code if code < 0 else code
    os.write(status, json.dumps({"exit-code": code}).encode() + b"\n")
    return code


def _enter(drop_uid: int | None) -> None:
    """Another real user, and namespaces where it is 0 and the harness's user is 1000."""
    own = os.geteuid() if drop_uid is None else drop_uid + _OTHER_UID
    flags = (
        kernel.CLONE_NEWUSER
        | kernel.CLONE_NEWNS
        | kernel.CLONE_NEWPID
        | kernel.CLONE_NEWIPC
        | kernel.CLONE_NEWUTS
    )
    if drop_uid is None:
        kernel.unshare(flags)
        Path("/proc/self/setgroups").write_text("deny")
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/self/{name}").write_text(f"0 {own} 1\n")
        return
    ready, go = os.pipe()
    this = os.getpid()
    mapper = os.fork()
    if mapper == 0:
        os.close(go)
        os.read(ready, 1)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{this}/{name}").write_text(f"0 {own} 1\n{rootfs.UID} {drop_uid} 1\n")
        os._exit(0)
    os.close(ready)
    os.setgroups([])
    os.setresgid(own, own, own)
    os.setresuid(own, own, own)
    kernel.unshare(flags)
    os.write(go, b"x")
    os.close(go)
    if os.waitpid(mapper, 0)[1]:
        raise OSError("the user namespace was not mapped")
    # A change of user cleared it.
    kernel.die_with_parent()


def _first(request: Request) -> int:
    """PID 1: the rooms of runsc, the relay, the harness; its exit code."""
    kernel.die_with_parent()
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV)
    kernel.mount(
        "tmpfs", _ROOMS, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"size={_ROOM_BYTES},mode=0700"
    )
    inside = oci.spread_root(oci.read(request.arguments))
    if request.drop_uid is None:
        # Only one user can be mapped: the harness is 0 in gVisor's kernel, with no capability, and ours outside.
        inside.uid = inside.gid = 0
    start = [(source, place) for source, place, _ in inside.binds if place == rootfs.START_INSIDE]
    for source, place in start:
        inside.binds.remove((source, place, False))
        inside.binds.append((f"{source}-runsc", place, False))
    joins = request.gateway is not None
    if request.gateway is not None:
        _start_relay(request, inside, request.gateway)
    bounds = oci.rlimits(request.limits, memory_is_bounded=request.memory_is_bounded)
    _bundle("harness", inside, request.command, bounds, kind="container" if joins else "")
    return _runsc(request.tool, "run", "harness", hosts_sockets=joins)


def _start_relay(request: Request, inside: oci.Inside, gateway: Path) -> None:
    """A container on the platform's own root makes the sandbox that the harness joins; waits until it listens."""
    around = oci.Inside(
        uid=_RELAY_UID, gid=_RELAY_UID, hostname=inside.hostname, variables=rootfs.environment()
    )
    stage = gateway.parent
    around.links = rootfs.links_of_the_host()
    around.binds = [*rootfs.binds_of_the_host(stage / "python"), (str(gateway), "/gateway", False)]
    command = ("/opt/python/bin/python3", "-I", "-S", "-c", _RELAY)
    _bundle("relay", around, command, {}, kind="sandbox")
    heard, said = os.pipe()
    code = _runsc(request.tool, "run", oci.SANDBOX, bundle="relay", output=said, hosts_sockets=True)
    os.close(said)
    if code != 0 or not os.read(heard, 1):
        raise OSError(f"the relay to the gateway did not start: {code}")
    os.close(heard)


def _bundle(
    name: str, inside: oci.Inside, command: Sequence[str], bounds: dict[int, int], *, kind: str = ""
) -> None:
    place = Path(_ROOMS, name)
    root = place / "root"
    root.mkdir(parents=True)
    oci.lay_out(inside, root)
    config = oci.configuration(inside, str(root), command, bounds, kind=kind)
    (place / "config.json").write_text(json.dumps(config))


def _runsc(
    tool: str,
    verb: str,
    name: str,
    *,
    bundle: str = "",
    output: int | None = None,
    hosts_sockets: bool = False,
) -> int:
    """Call the tool and wait; with an `output` it leaves the container running and its output goes there."""
    options = [*_OPTIONS, *(["--host-uds=open"] if hosts_sockets else [])]
    words = [
        verb,
        "--bundle",
        f"{_ROOMS}/{bundle or name}",
        *(["--detach"] if output is not None else []),
        name,
    ]
    child = os.fork()
    if child == 0:
        if output is not None:
            null = os.open("/dev/null", os.O_RDWR)
            for number, fd in enumerate((null, output, null)):
                os.dup2(fd, number)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(tool, ["runsc", *options, *words], {})  # noqa: S606
    while True:
        pid, ended = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(ended)
