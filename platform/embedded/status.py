"""What runs: asks each server itself, by the addresses in the connection file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg

from embedded import objectstore, valkey
from embedded.services import EXTERNAL, SERVICES, current_holder
from embedded.state import CONNECTION_FILE, read_json


def status(state_dir: Path, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`{"state_dir", "holder", "running", "services": [{"name", "state", "address"}]}`; no secret is in it.

    `state` is running, stopped or external (an external server is not asked).
    """
    environment = os.environ if environment is None else environment
    found = read_json(state_dir / CONNECTION_FILE) or {}
    holder = current_holder(state_dir)
    rows: list[dict[str, str | None]] = []
    for name in SERVICES:
        if environment.get(EXTERNAL[name]):
            rows.append({"name": name, "state": "external", "address": _bare(environment[EXTERNAL[name]])})
            continue
        address, answers = _ask(name, found)
        rows.append({"name": name, "state": "running" if answers else "stopped", "address": address})
    return {
        "state_dir": str(state_dir),
        "holder": {"pid": holder["pid"], "what": holder["what"]} if holder else None,
        "running": all(row["state"] != "stopped" for row in rows),
        "services": rows,
    }


def _ask(name: str, found: Mapping[str, Any]) -> tuple[str | None, bool]:
    asked = {"postgresql": _ask_postgres, "redis": _ask_redis, "s3": _ask_store}
    return asked[name](found)


def _ask_postgres(found: Mapping[str, Any]) -> tuple[str | None, bool]:
    url = found.get("database_urls", {}).get("auditor")
    if not url:
        return None, False
    try:
        with psycopg.connect(url, connect_timeout=2) as connection:
            return connection.info.host, connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.Error:
        return None, False


def _ask_redis(found: Mapping[str, Any]) -> tuple[str | None, bool]:
    parts = urlsplit(str(found.get("redis_url", "")))
    if parts.scheme != "unix":
        return None, False
    return parts.path, valkey.ping(Path(parts.path), unquote(parts.password or ""))


def _ask_store(found: Mapping[str, Any]) -> tuple[str | None, bool]:
    endpoint = str(found.get("s3", {}).get("endpoint", ""))
    port = urlsplit(endpoint).port
    return (endpoint, objectstore.answers(port)) if port else (None, False)


def _bare(url: str) -> str:
    """The address without user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
