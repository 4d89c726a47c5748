"""People's names, sealed under a key of each person's own: with the key the name is gone from every copy of the row.

The keys are wrapped under the people key of the vault, which only processes that serve people hold.
"""

from __future__ import annotations

import io

from django.conf import settings

from config import vault


class NoPeopleKey(RuntimeError):
    """This process's role does not hold the key under which people's keys are wrapped."""


def new_key() -> bytes:
    """A fresh key, wrapped (40 bytes). Raises NoPeopleKey."""
    return vault.wrap(vault.new_key(), under=people_key())


def seal(name: str, wrapped_key: bytes | memoryview) -> bytes:
    """The sealed form of a name. Raises NoPeopleKey, and vault.SealBroken for another vault's key."""
    sealed = io.BytesIO()
    vault.seal(io.BytesIO(name.encode()), sealed, key=vault.unwrap(bytes(wrapped_key), under=people_key()))
    return sealed.getvalue()


def open_sealed(sealed: bytes | memoryview, wrapped_key: bytes | memoryview) -> str:
    """The name again. Raises NoPeopleKey, and vault.SealBroken for another person's key."""
    plain = io.BytesIO()
    vault.open_sealed(
        io.BytesIO(bytes(sealed)), plain, key=vault.unwrap(bytes(wrapped_key), under=people_key())
    )
    return plain.getvalue().decode()


def people_key() -> bytes:
    """The key that wraps people's keys. Raises NoPeopleKey."""
    key: bytes | None = settings.VAULT_KEY_PEOPLE
    if key is None:
        raise NoPeopleKey("this process does not hold the people key")
    return key
