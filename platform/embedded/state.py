"""The state folder of a machine that has no servers of its own: where it is, what it holds, its secrets.

Everything in it is readable by its owner only. Standard library only, because settings import this.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONNECTION_FILE = "connection.json"
SECRETS_FILE = "secrets.json"

#: Login roles of the application; the owner runs migrations, the others are what processes run as.
APPLICATION_ROLES = ("web", "execute", "sealed", "console", "auditor")
#: Writes the tree over the audit events. Not among those that the owner may hand on.
SEQUENCER_ROLE = "sequencer"
DATABASE_ROLES = ("owner", *APPLICATION_ROLES, SEQUENCER_ROLE)


def state_dir(environment: Mapping[str, str] | None = None) -> Path:
    """LINGEE_STATE_DIR, or `.embedded` at the top of the checkout."""
    environment = os.environ if environment is None else environment
    return Path(environment.get("LINGEE_STATE_DIR") or ROOT / ".embedded").absolute()


def ensure_private(folder: Path) -> Path:
    """Make `folder` (and what is above it) with mode 0700; raises PermissionError if it is another's."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise PermissionError(f"{folder} is not a folder of this user")
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)
    return folder


def write_private(path: Path, content: Mapping[str, object]) -> None:
    """Replace `path` in one step by `content` as JSON, mode 0600."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_json(path: Path) -> dict[str, object] | None:
    """The JSON object in `path`, or None where there is no such file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if not isinstance(found, dict):
        raise ValueError(f"{path} does not hold a JSON object")
    return found


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path` for the length of the block."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def ensure_secrets(folder: Path) -> dict[str, str]:
    """The secrets of this state folder, generated at the first call and never changed after."""
    ensure_private(folder)
    path = folder / SECRETS_FILE
    with locked(folder / "secrets.lock"):
        kept = {name: str(value) for name, value in (read_json(path) or {}).items()}
        missing = {name: value for name, value in _fresh_secrets().items() if name not in kept}
        if missing:
            kept.update(missing)
            write_private(path, kept)
    return kept


def _fresh_secrets() -> dict[str, str]:
    passwords = {
        f"postgres_{role}": secrets.token_urlsafe(24) for role in ("superuser", *DATABASE_ROLES, "test")
    }
    return {
        **passwords,
        "SECRET_KEY": secrets.token_urlsafe(48),
        "VAULT_KEY_WORKER": base64.b64encode(secrets.token_bytes(32)).decode(),
        "VAULT_KEY_SEALED": base64.b64encode(secrets.token_bytes(32)).decode(),
        "VAULT_KEY_PEOPLE": base64.b64encode(secrets.token_bytes(32)).decode(),
        "VAULT_KEY_UPSTREAM": base64.b64encode(secrets.token_bytes(32)).decode(),
        "VAULT_KEY_CASE": base64.b64encode(secrets.token_bytes(32)).decode(),
        "redis_password": secrets.token_urlsafe(24),
        "s3_access_key": secrets.token_hex(10),
        "s3_secret_key": secrets.token_urlsafe(30),
    }
