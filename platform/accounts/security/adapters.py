"""How allauth keeps second factors here: their secrets sealed under a key of the vault. Named by MFA_ADAPTER."""

from __future__ import annotations

import base64
import hashlib
import hmac
import io

from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings

from accounts.names import NoPeopleKey
from config import vault

PURPOSE = b"secrets of second factors"


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        """Raises NoPeopleKey in a process that does not serve people."""
        sealed = io.BytesIO()
        vault.seal(io.BytesIO(text.encode()), sealed, key=_key())
        return base64.b64encode(sealed.getvalue()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Raises NoPeopleKey, and vault.SealBroken for what was sealed in another place."""
        plain = io.BytesIO()
        vault.open_sealed(io.BytesIO(base64.b64decode(encrypted_text)), plain, key=_key())
        return plain.getvalue().decode()

    def _get_site_name(self) -> str:
        return "Lingee Bench"


def _key() -> bytes:
    """Derived from the people key, so that no two uses share a key."""
    people: bytes | None = settings.VAULT_KEY_PEOPLE
    if people is None:
        raise NoPeopleKey("this process does not hold the people key")
    return hmac.digest(people, PURPOSE, hashlib.sha256)
