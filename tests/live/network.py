"""Hosts as network namespaces on one bridge, and what stands between them and the servers: for tests run as root."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
import signal
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

Opener = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
BUSY = b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@dataclass
class Host:
    """One namespace with one cable; `run` starts a process that has no other network."""

    name: str
    cable: str
    address: str
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def run(self, command: Sequence[str], environment: Mapping[str, str], log: Path, folder: Path) -> None:
        """Not by `ip netns exec`, which takes the control groups' file system away."""
        with log.open("ab") as out:
            self.started.append(
                subprocess.Popen(
                    ["nsenter", f"--net=/run/netns/{self.name}", *command],
                    env=environment,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
            )

    def cut_off(self) -> None:
        ip("link", "set", self.cable, "down")

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Everything on it at once, as when the power fails."""
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        for process in self.started:
            process.wait(60)


@contextmanager
def hosts(count: int) -> Iterator[tuple[str, list[Host]]]:
    """The bridge's address, which all hosts reach, and the hosts; whatever runs on them ends with the block."""
    mark, net = secrets.token_hex(2), secrets.randbelow(200) + 20
    bridge, made = f"lgb{mark}", []
    try:
        ip("link", "add", bridge, "type", "bridge")
        ip("addr", "add", f"10.213.{net}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for number in range(1, count + 1):
            host = Host(f"lgh{mark}{number}", f"lgv{mark}{number}", f"10.213.{net}.{number + 1}")
            ip("netns", "add", host.name)
            made.append(host)
            ip("link", "add", host.cable, "type", "veth", "peer", "name", "eth0", "netns", host.name)
            ip("link", "set", host.cable, "master", bridge, "up")
            ip("-n", host.name, "link", "set", "lo", "up")
            ip("-n", host.name, "addr", "add", f"{host.address}/24", "dev", "eth0")
            ip("-n", host.name, "link", "set", "eth0", "up")
        yield f"10.213.{net}.1", made
    finally:
        for host in made:
            host.kill()
            subprocess.run(["ip", "netns", "del", host.name], check=False, capture_output=True)
            subprocess.run(["ip", "link", "del", host.cable], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", bridge], check=False, capture_output=True)


class Forwarders:
    """Listeners on the bridge that hand connections on to the servers, in a thread of their own."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="forwarders", daemon=True).start()

    def forward(self, opener: Opener, *, delay: float = 0.0, refuse: float = 0.0, seed: int = 0) -> int:
        """A port that leads there; each connection waits `delay` seconds, and of all the share `refuse` is answered
        503 in place of the server."""
        chooser = random.Random(seed)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(delay)
            if chooser.random() < refuse:
                await reader.read(1)
                writer.write(BUSY)
                with contextlib.suppress(OSError):
                    await writer.drain()
                writer.close()
                return
            try:
                inner, outer = await opener()
            except OSError:
                writer.close()
                return
            await asyncio.gather(_pump(reader, outer), _pump(inner, writer))

        async def listen() -> int:
            server = await asyncio.start_server(serve, self._address, 0)
            port: int = server.sockets[0].getsockname()[1]
            return port

        return asyncio.run_coroutine_threadsafe(listen(), self._loop).result(10)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
