"""The three servers together: one state folder, one holder, one connection file.

`DATABASE_URL`, `REDIS_URL` and `S3_ENDPOINT_URL` name external servers; what they name is not started.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from embedded.box import Server, ServiceError
from embedded.objectstore import ObjectStore
from embedded.postgres import Postgres
from embedded.state import (
    CONNECTION_FILE,
    DATABASE_ROLES,
    ensure_private,
    ensure_secrets,
    read_json,
    write_private,
)
from embedded.valkey import Valkey

SERVICES = ("postgresql", "redis", "s3")
EXTERNAL = {"postgresql": "DATABASE_URL", "redis": "REDIS_URL", "s3": "S3_ENDPOINT_URL"}
HOLDER_FILE = "holder.json"
#: A socket's path has 108 bytes with its terminator; PostgreSQL's lock file is the longest name beside it.
LONGEST_SOCKET_DIR = 107 - len("/.s.PGSQL.5432.lock")
#: Seconds the servers of a killed holder may take to vanish.
PATIENCE_WITH_THE_DYING = 15.0


class AlreadyRunning(ServiceError):
    """Another process holds the services of this state folder."""

    def __init__(self, holder: Mapping[str, object]) -> None:
        super().__init__(
            f"the services already run, held by {holder.get('what')} (process {holder.get('pid')}): stop it "
            "with Ctrl-C or SIGTERM, or set LINGEE_STATE_DIR to another folder"
        )
        self.holder = holder


class Services:
    """Starts what is not external, and stops exactly that. A context manager, for the main thread."""

    def __init__(
        self,
        state_dir: Path,
        *,
        what: str = "python",
        only: Sequence[str] = SERVICES,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.state_dir = state_dir.absolute()
        self._what = what
        self._environment = dict(os.environ if environment is None else environment)
        self._only = [name for name in only if not self._environment.get(EXTERNAL[name])]
        self._servers: dict[str, Server] = {}
        self._lock: int | None = None
        self._socket_dir: Path | None = None

    def __enter__(self) -> Services:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start all at once and wait until each serves; raises AlreadyRunning or ServiceError."""
        ensure_private(self.state_dir)
        secrets = ensure_secrets(self.state_dir)
        self._lock = self._take_lock()
        try:
            ensure_private(self.state_dir / "log")
            self._servers = self._build(secrets, self._make_socket_dir())
            for server in self._servers.values():
                server.launch(self._lock)
            for server in self._servers.values():
                server.ready()
            write_private(self.state_dir / CONNECTION_FILE, self.connection())
            store = self._servers.get("s3")
            if isinstance(store, ObjectStore):  # so that addresses stay the same over restarts
                write_private(self.state_dir / "ports.json", {"s3": store.port})
        except BaseException:
            self.stop()
            raise

    def _build(self, secrets: Mapping[str, str], sockets: Path) -> dict[str, Server]:
        log = self.state_dir / "log"
        previous = read_json(self.state_dir / "ports.json") or {}
        every: dict[str, Server] = {
            "postgresql": Postgres(self.state_dir / "postgresql", sockets, log / "postgresql.log", secrets),
            "redis": Valkey(self.state_dir / "redis", sockets, log / "redis.log", secrets),
            "s3": ObjectStore(
                self.state_dir / "s3", int(str(previous.get("s3", 0))), log / "s3.log", secrets
            ),
        }
        return {name: every[name] for name in SERVICES if name in self._only}

    def _make_socket_dir(self) -> Path:
        """A private folder with a path short enough for a socket."""
        preferred = self.state_dir / "run"
        if len(os.fsencode(preferred)) <= LONGEST_SOCKET_DIR:
            self._socket_dir = ensure_private(preferred)
            return preferred
        stale = (read_json(self.state_dir / HOLDER_FILE) or {}).get("stale_sockets")
        if stale and Path(str(stale)).name.startswith("lingee-"):
            shutil.rmtree(str(stale), ignore_errors=True)
        base = os.environ.get("XDG_RUNTIME_DIR")
        base = base if base and os.access(base, os.W_OK) else None
        self._socket_dir = Path(tempfile.mkdtemp(prefix="lingee-", dir=base)).absolute()
        self._write_holder(sockets=self._socket_dir)
        return self._socket_dir

    def _take_lock(self) -> int:
        """Hold the folder. The servers inherit the descriptor: it stays taken until the last is gone."""
        descriptor = os.open(self.state_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + PATIENCE_WITH_THE_DYING
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                holder = current_holder(self.state_dir)
                if error.errno != errno.EWOULDBLOCK or holder is not None or time.monotonic() > deadline:
                    os.close(descriptor)
                    raise AlreadyRunning(holder or {"what": "an unknown process", "pid": "?"}) from error
            time.sleep(0.05)
        self._write_holder(sockets=None)
        return descriptor

    def _write_holder(self, sockets: Path | None) -> None:
        path = self.state_dir / HOLDER_FILE
        stale = sockets or (read_json(path) or {}).get("stale_sockets")
        mine: dict[str, object] = {"pid": os.getpid(), "born": born(os.getpid()), "what": self._what}
        write_private(path, {**mine, "stale_sockets": str(stale) if stale else None})

    def connection(self) -> dict[str, Any]:
        """What connection.json holds: URLs by role, Redis, S3; external addresses are passed through."""
        given = self._environment
        postgres, redis, store = (self._servers.get(name) for name in SERVICES)
        found: dict[str, Any] = {}
        if isinstance(postgres, Postgres):
            found["database_urls"] = {role: postgres.url(role) for role in (*DATABASE_ROLES, "test")}
        elif given.get("DATABASE_URL"):
            found["database_urls"] = {
                role: given.get(f"DATABASE_URL_{role.upper()}") or given["DATABASE_URL"]
                for role in DATABASE_ROLES
            }
        if isinstance(redis, Valkey):
            found["redis_url"] = redis.url
        elif given.get("REDIS_URL"):
            found["redis_url"] = given["REDIS_URL"]
        if isinstance(store, ObjectStore):
            found["s3"] = store.credentials
        elif given.get("S3_ENDPOINT_URL"):
            found["s3"] = {
                "endpoint": given["S3_ENDPOINT_URL"],
                "access_key": given.get("S3_ACCESS_KEY", ""),
                "secret_key": given.get("S3_SECRET_KEY", ""),
                "region": given.get("S3_REGION", "us-east-1"),
            }
        return found

    def server(self, name: str) -> Server:
        """One of the running servers, for tests that stop and start it."""
        return self._servers[name]

    def heal(self) -> list[str]:
        """Start again what has died; returns the names. Who holds the services calls it now and then."""
        dead = [name for name, server in self._servers.items() if not server.alive]
        for name in dead:
            self.restart(name)
        return dead

    def restart(self, name: str) -> None:
        """Stop one server, if it runs, and start it at the same address."""
        if self._lock is None:
            raise ServiceError("the services are not started")
        server = self._servers[name]
        server.stop()
        server.launch(self._lock)
        server.ready()

    def stop(self) -> None:
        """Stop what this object started; may be called twice."""
        if self._lock is not None:
            (self.state_dir / CONNECTION_FILE).unlink(missing_ok=True)
        for server in reversed(self._servers.values()):
            server.stop()
        self._servers = {}
        if self._socket_dir is not None and self._socket_dir != self.state_dir / "run":
            shutil.rmtree(self._socket_dir, ignore_errors=True)
        self._socket_dir = None
        if self._lock is not None:
            (self.state_dir / HOLDER_FILE).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


def born(pid: int) -> str:
    """The start time of a process in clock ticks: tells it from a later one of its number. '' if it has ended."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = line.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


def current_holder(state_dir: Path) -> dict[str, object] | None:
    """Who holds the services of this folder, or None where that process has gone."""
    found = read_json(state_dir / HOLDER_FILE)
    if not found or not found.get("born") or born(int(str(found["pid"]))) != found["born"]:
        return None
    return found
