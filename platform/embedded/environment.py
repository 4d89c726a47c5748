"""The environment of one child process: its role, its addresses, and only the secrets that role may hold."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedded.state import ensure_secrets

#: Roles whose processes cannot open held-out packs or the artefacts of held-out runs.
ROLES_WITHOUT_SEALED_KEY = frozenset({"web"})
_FROM_SECRETS = ("SECRET_KEY", "VAULT_KEY_WEB", "VAULT_KEY_SEALED")
_DATABASE_PREFIX = "DATABASE_URL"


def role_environment(connection: Mapping[str, Any], role: str, folder: Path) -> dict[str, str]:
    """This process's environment with the addresses and secrets of `role` in place of its own."""
    held = {
        **ensure_secrets(folder),
        **{name: os.environ[name] for name in _FROM_SECRETS if name in os.environ},
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_DATABASE_PREFIX)}
    environment.update({name: held[name] for name in _FROM_SECRETS})
    if role in ROLES_WITHOUT_SEALED_KEY:
        environment.pop("VAULT_KEY_SEALED")
    store = connection.get("s3", {})
    environment.update(
        {
            "LINGEE_ROLE": role,
            "LINGEE_STATE_DIR": str(folder),
            "DATABASE_URL": connection["database_urls"][role],
            "REDIS_URL": connection["redis_url"],
            "S3_ENDPOINT_URL": store["endpoint"],
            "S3_ACCESS_KEY": store["access_key"],
            "S3_SECRET_KEY": store["secret_key"],
            "S3_REGION": store["region"],
        }
    )
    return environment
