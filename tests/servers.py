"""The real servers of a test run: started by the first test that needs one, ended with the run.

Every process of the run (xdist workers too) shares one set; each has a database, a Redis database and buckets
of its own. Tests that need no server never come here.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from embedded.keeper import stop
from embedded.postgres import SUPERUSER
from embedded.services import EXTERNAL
from embedded.state import CONNECTION_FILE, ensure_secrets, locked, read_json
from tests import template

ROOT = Path(__file__).resolve().parents[1]
STATE = "LINGEE_TEST_STATE"
CONTROLLER = "LINGEE_TEST_CONTROLLER"
TEMPLATE = "lingee_template"
MEMORY, ENOUGH = "/dev/shm", 6 * 2**30


def prepare_run() -> None:
    """In the process that controls the run: choose the state folder. Nothing is started."""
    for name in (*EXTERNAL.values(), "LINGEE_STATE_DIR"):
        os.environ.pop(name, None)
    os.environ[STATE] = tempfile.mkdtemp(prefix="lgt-", dir=_memory())
    os.environ[CONTROLLER] = str(os.getpid())


def _memory() -> str | None:
    """Memory as a folder, where there is enough and programs may run from it: copying a database a test writes a
    thousand files, and a disk is asked to keep each. None where the usual place has to do.
    """
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return None
    is_fit = not found.f_flag & os.ST_NOEXEC and os.access(MEMORY, os.W_OK)
    return MEMORY if is_fit and found.f_bavail * found.f_frsize >= ENOUGH else None


def end_run() -> None:
    """In the same process: stop what was started and remove the folder."""
    folder = os.environ.pop(STATE, "")
    if folder:
        stop(Path(folder))
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Servers:
    """Addresses of the run's servers and of this process's share of them."""

    state_dir: Path
    connection: dict[str, Any]
    #: "main", or the name of the xdist worker.
    share: str

    @property
    def database(self) -> str:
        """The name of this process's database."""
        return f"lingee_{self.share}"

    def url(self, role: str, database: str | None = None) -> str:
        """The libpq URL of a role (`superuser` too) in this process's database."""
        base = self.connection["database_urls"]["owner"]
        if role == "superuser":
            secrets = ensure_secrets(self.state_dir)
            base = base.replace("lingee_owner:", f"{SUPERUSER}:").replace(
                secrets["postgres_owner"], secrets["postgres_superuser"]
            )
        else:
            base = self.connection["database_urls"][role]
        return base.replace("@/lingee?", f"@/{database or self.database}?")

    @property
    def redis_url(self) -> str:
        """Redis with this process's own database number."""
        number = 0 if self.share == "main" else int(self.share.removeprefix("gw")) + 1
        return str(self.connection["redis_url"]).replace("?db=0", f"?db={number}")

    @property
    def buckets(self) -> dict[str, str]:
        """This process's buckets by setting."""
        return {
            f"S3_BUCKET_{name.upper()}": f"{name}-{self.share}"
            for name in ("quarantine", "packages", "sealed", "exports")
        }

    @property
    def own_connection(self) -> dict[str, Any]:
        """The connection as child processes of this process should get it."""
        roles = self.connection["database_urls"]
        return {
            **self.connection,
            "database_urls": {role: self.url(role) for role in roles},
            "redis_url": self.redis_url,
        }

    def superuser(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """An autocommitting connection of the superuser, for set-up and for tests of what roles may do."""
        return psycopg.connect(self.url("superuser", database), autocommit=True)

    def renew_database(self) -> None:
        """Replace this process's database by a fresh copy of the migrated template."""
        name = sql.Identifier(self.database)
        with self.superuser() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
            # Copied file by file: six times as fast as through the log, where the files lie in memory.
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER lingee_owner STRATEGY file_copy")
            connection.execute(statement.format(name, sql.Identifier(TEMPLATE)))

    def make_buckets(self) -> None:
        """Create this process's buckets; to the embedded store a bucket is a folder."""
        for bucket in self.buckets.values():
            (self.state_dir / "s3" / bucket).mkdir(mode=0o700, exist_ok=True)


def running(share: str) -> Servers:
    """The run's servers, started and migrated by whoever asks first."""
    folder = Path(os.environ[STATE])
    with locked(folder / "tests.lock"):
        if not (folder / CONNECTION_FILE).exists():
            _start(folder)
        servers = Servers(folder, read_json(folder / CONNECTION_FILE) or {}, share)
        _ensure_template(servers)
    return servers


def _start(folder: Path) -> None:
    # A process of its own: it outlives the worker that happened to ask first, and watches the controller.
    log = folder / "keeper.log"
    with log.open("wb") as output:
        keeper = subprocess.Popen(
            [
                *(sys.executable, "-m", "embedded", "start", "--state-dir", str(folder)),
                *("--watch-pid", os.environ[CONTROLLER]),
            ],
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    deadline = time.monotonic() + 120
    while not (folder / CONNECTION_FILE).exists():
        if keeper.poll() is not None or time.monotonic() > deadline:
            keeper.send_signal(signal.SIGKILL)
            raise RuntimeError(f"the servers did not start:\n{log.read_text()}")
        time.sleep(0.02)


def _ensure_template(servers: Servers) -> None:
    with servers.superuser() as connection:
        found = connection.execute(
            "SELECT datallowconn FROM pg_database WHERE datname = %s", [TEMPLATE]
        ).fetchone()
        if found is not None and not found[0]:
            return
        name = sql.Identifier(TEMPLATE)
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER lingee_owner").format(name))
        template.fill(servers.url("superuser", TEMPLATE), lambda: migrate(servers.url("owner", TEMPLATE)))
        # Closed to sessions: the mark of a complete template, and no copy of it ever waits for one.
        connection.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))


def migrate(owner_url: str) -> None:
    """Run the migrations as the owner; raises RuntimeError with what they said."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "LINGEE_ROLE": "owner",
            "DATABASE_URL": owner_url,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"migrations failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
