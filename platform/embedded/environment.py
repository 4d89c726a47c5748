"""The environment of one child process: its role, its addresses, and only the secrets that role may hold."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedded.state import ensure_secrets

#: Which processes hold which key of the vault; `test` stands for several roles at once.
KEY_HOLDERS = {
    "VAULT_KEY_WORKER": frozenset({"execute", "sealed", "test"}),
    "VAULT_KEY_SEALED": frozenset({"sealed", "test"}),
    "VAULT_KEY_PEOPLE": frozenset({"web", "console", "test"}),
    "VAULT_KEY_UPSTREAM": frozenset({"sealed", "test"}),
}
#: The public half of VAULT_KEY_UPSTREAM: whoever takes credentials in seals them to it and cannot open them.
UPSTREAM_BOX = "VAULT_BOX_UPSTREAM"
BOX_HOLDERS = frozenset({"web", "console", "test"})
#: Which processes also get the database as an auditor sees it: pages for auditors, exports, checks of the log. Where
#: vendors are served no body of an event can be read.
AUDITOR_HOLDERS = frozenset({"console", "sealed", "auditor", "test"})
_SECRETS = ("SECRET_KEY", *KEY_HOLDERS)
_DATABASES = ("DATABASE_URL", "AUDITOR_DATABASE_URL")


def role_environment(connection: Mapping[str, Any], role: str, folder: Path) -> dict[str, str]:
    """This process's environment with the addresses and secrets of `role` in place of its own."""
    held = {**ensure_secrets(folder), **{name: os.environ[name] for name in _SECRETS if name in os.environ}}
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in (*_SECRETS, UPSTREAM_BOX) and not name.startswith(_DATABASES)
    }
    allowed = [name for name in _SECRETS if name not in KEY_HOLDERS or role in KEY_HOLDERS[name]]
    environment.update({name: held[name] for name in allowed})
    if role in BOX_HOLDERS:
        environment[UPSTREAM_BOX] = box_of(held["VAULT_KEY_UPSTREAM"])
    if role in AUDITOR_HOLDERS:
        environment["AUDITOR_DATABASE_URL"] = connection["database_urls"]["auditor"]
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


def box_of(private: str) -> str:
    """The public key that belongs to a private one, both in base64."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    key = X25519PrivateKey.from_private_bytes(base64.b64decode(private, validate=True))
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()
