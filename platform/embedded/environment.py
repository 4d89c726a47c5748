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
    "VAULT_KEY_UPSTREAM": frozenset({"execute", "sealed", "test"}),
    "VAULT_KEY_CASE": frozenset({"console", "test"}),
}
#: Public halves of keys: whoever holds one seals to it and cannot open. By name: the private key, and the holders.
BOXES = {
    "VAULT_BOX_UPSTREAM": ("VAULT_KEY_UPSTREAM", frozenset({"web", "console", "test"})),
    "VAULT_BOX_CASE": ("VAULT_KEY_CASE", frozenset({"sealed", "test"})),
}
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
        if name not in (*_SECRETS, *BOXES) and not name.startswith(_DATABASES)
    }
    allowed = [name for name in _SECRETS if name not in KEY_HOLDERS or role in KEY_HOLDERS[name]]
    environment.update({name: held[name] for name in allowed})
    environment.update({box: box_of(held[key]) for box, (key, holders) in BOXES.items() if role in holders})
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
