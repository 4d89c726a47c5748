"""The embedded S3 server: on the loopback address, a port of its own, one generated credential."""

from __future__ import annotations

import importlib.util
import signal
import socket
import sys
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from embedded.box import POLL, Box, Launch, Server, ServiceError, interpreter_folders
from embedded.state import ensure_private

REGION = "us-east-1"
HOST = "127.0.0.1"
BUCKETS = ("quarantine", "packages", "sealed", "exports")


class ObjectStore(Server):
    """One server; `port` 0 means: any free one."""

    name = "s3"
    #: A kill does no harm either: objects are written beside their place and renamed.
    stop_steps = ((signal.SIGTERM, 3.0),)

    def __init__(self, data: Path, port: int, log: Path, secrets: Mapping[str, str]) -> None:
        self.data = data
        self.port = port
        super().__init__(log)
        self._access_key = secrets["s3_access_key"]
        self._secret_key = secrets["s3_secret_key"]

    def launch(self, lock: int) -> None:
        """Begin to start; `lock` is held by the server as long as it lives."""
        if importlib.util.find_spec("nanio") is None:
            raise ServiceError("the package nanio is not installed: run `make setup`")
        ensure_private(self.data)
        for bucket in BUCKETS:  # to this server a bucket is a folder
            ensure_private(self.data / bucket)
        self.port = free_port(self.port)
        command = [sys.executable, "-I", "-m", "nanio", "serve", "--host", HOST, "--port", str(self.port)]
        command += [
            "--data-dir",
            str(self.data),
            "--region",
            REGION,
            "--no-access-log",
            "--log-level",
            "warning",
        ]
        self._box = Box(
            Launch(
                name=self.name,
                command=command,
                readable=interpreter_folders(),
                writable=[self.data],
                # By environment, not by argument: arguments are readable by every user of the machine.
                environment={"NANIO_ACCESS_KEY": self._access_key, "NANIO_SECRET_KEY": self._secret_key},
                inherited=[lock],
            ),
            self.log,
        )

    def ready(self, seconds: float = 30) -> None:
        """Wait until it answers; raises ServiceError."""
        deadline = time.monotonic() + seconds
        while not answers(self.port):
            if not self.alive or time.monotonic() > deadline:
                raise ServiceError(f"the S3 server does not answer:\n{self.tail()}")
            time.sleep(POLL * 2)

    @property
    def credentials(self) -> dict[str, str]:
        """Address and keys, as the connection file writes them."""
        return {
            "endpoint": f"http://{HOST}:{self.port}",
            "access_key": self._access_key,
            "secret_key": self._secret_key,
            "region": REGION,
        }


def free_port(wanted: int) -> int:
    """`wanted` if nobody listens there, else one the system offers."""
    for port in (wanted, 0) if wanted else (0,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise ServiceError("no free port on the loopback address")


def answers(port: int) -> bool:
    """Whether an unsigned request is refused in S3's way, which shows that signatures are checked."""
    connection = HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status == 403
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
