"""Which servers and secrets this process uses: the environment first, else the embedded services' files.

Settings call this once; nothing here imports Django.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from embedded.environment import AUDITOR_HOLDERS, BOXES, KEY_HOLDERS, box_of
from embedded.state import CONNECTION_FILE, DATABASE_ROLES, ensure_secrets, read_json, state_dir

TEST_ROLE = "test"
ROLES = (*DATABASE_ROLES, TEST_ROLE)


@dataclass(frozen=True)
class Store:
    """The S3-compatible store: where it is and how to sign."""

    endpoint_url: str
    access_key: str
    secret_key: str
    region: str


@dataclass(frozen=True)
class Connection:
    """All addresses one process needs; empty strings where no server is known yet."""

    role: str
    state_dir: Path
    database_url: str
    redis_url: str
    store: Store
    #: The same database under the role that only reads; empty in processes that have no business with it.
    auditor_url: str = ""


def current(environment: Mapping[str, str] | None = None) -> Connection:
    """Read the environment and the connection file; raises ValueError for an unknown role."""
    environment = os.environ if environment is None else environment
    role = environment.get("LINGEE_ROLE") or "console"
    if role not in ROLES:
        raise ValueError(f"LINGEE_ROLE is {role!r}; it is one of {', '.join(ROLES)}")
    folder = state_dir(environment)
    found = read_json(folder / CONNECTION_FILE) or {}
    urls = _mapping(found.get("database_urls"))
    s3 = _mapping(found.get("s3"))
    return Connection(
        role=role,
        state_dir=folder,
        database_url=environment.get("DATABASE_URL") or urls.get(role, ""),
        redis_url=environment.get("REDIS_URL") or str(found.get("redis_url", "")),
        store=Store(
            endpoint_url=environment.get("S3_ENDPOINT_URL") or s3.get("endpoint", ""),
            access_key=environment.get("S3_ACCESS_KEY") or s3.get("access_key", ""),
            secret_key=environment.get("S3_SECRET_KEY") or s3.get("secret_key", ""),
            region=environment.get("S3_REGION") or s3.get("region", "us-east-1"),
        ),
        auditor_url=(environment.get("AUDITOR_DATABASE_URL") or urls.get("auditor", ""))
        if role in AUDITOR_HOLDERS
        else "",
    )


def _mapping(value: object) -> dict[str, str]:
    return {str(name): str(item) for name, item in value.items()} if isinstance(value, dict) else {}


def secret(name: str, connection: Connection) -> str:
    """One secret: from the environment, else from the state folder, where it is generated at first use."""
    return os.environ.get(name) or ensure_secrets(connection.state_dir)[name]


def vault_key(name: str, connection: Connection) -> bytes | None:
    """A 32-byte key of the vault, or None in a process whose role must not hold it."""
    if connection.role not in KEY_HOLDERS[name]:
        return None
    return base64.b64decode(secret(name, connection), validate=True)


def vault_box(name: str, connection: Connection) -> bytes | None:
    """A public key to seal to, or None in a process whose role seals nothing to it."""
    key, holders = BOXES[name]
    if connection.role not in holders:
        return None
    found = os.environ.get(name) or box_of(secret(key, connection))
    return base64.b64decode(found, validate=True)


def django_database(url: str, *, max_age: int | None) -> dict[str, object]:
    """Django's DATABASES entry for a libpq URL; `max_age` in seconds, None keeps connections open."""
    parts = (
        conninfo_to_dict(url)
        if url
        else {"dbname": "lingee", "host": "/nonexistent/services-are-not-started"}
    )
    known = {"dbname", "user", "password", "host", "port"}
    options = {name: value for name, value in parts.items() if name not in known}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.get("dbname", ""),
        "USER": parts.get("user", ""),
        "PASSWORD": parts.get("password", ""),
        "HOST": parts.get("host", ""),
        "PORT": str(parts.get("port", "") or ""),
        "CONN_MAX_AGE": max_age,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": {
            "connect_timeout": 5,
            "application_name": "lingee",
            # A host that is cut off learns it within half a minute; TCP alone takes a quarter of an hour.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
            # Only claims are prepared; they go by keys whatever their values, so one plan will do.
            "prepare_threshold": 5,
            "options": "-c plan_cache_mode=force_generic_plan",
            **options,
        },
    }


def auditor_database(url: str) -> dict[str, object]:
    """Django's DATABASES entry for the auditor's role: every transaction is read-only, and sees one snapshot."""
    entry = django_database(url, max_age=0)
    settings = "-c default_transaction_read_only=on -c default_transaction_isolation=repeatable\\ read"
    options = {**entry["OPTIONS"], "application_name": "lingee auditor", "options": settings}  # type: ignore[dict-item]
    return {**entry, "OPTIONS": options}


def libpq_address(database: Mapping[str, Any]) -> str:
    """The libpq address of Django's DATABASES entry, for a session that Django does not manage."""
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    parts = {key: database[name] for name, key in names.items() if database.get(name)}
    options = {**database.get("OPTIONS", {}), "application_name": "lingee sequencer"}
    options.pop("prepare_threshold", None)  # the driver's own, unknown to libpq
    return make_conninfo("", **parts, **options)


def celery_broker(redis_url: str) -> str:
    """Kombu's spelling of a Redis URL: sockets are redis+socket, and their database is a virtual_host."""
    if not redis_url.startswith("unix://"):
        return redis_url
    return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)


__all__ = [
    "AUDITOR_HOLDERS",
    "BOXES",
    "KEY_HOLDERS",
    "ROLES",
    "Connection",
    "Store",
    "auditor_database",
    "celery_broker",
    "current",
    "django_database",
    "secret",
    "vault_box",
    "vault_key",
]
