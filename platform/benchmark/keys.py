"""Which key of the vault wraps the keys of which packs."""

from __future__ import annotations

from django.conf import settings

from benchmark.models import AssetPack
from config import vault

KEY_NAME = {
    AssetPack.Kind.ENVIRONMENT: "VAULT_KEY_WORKER",
    AssetPack.Kind.GRADING: "VAULT_KEY_SEALED",
    AssetPack.Kind.GOLD: "VAULT_KEY_SEALED",
}


class KeyWithheld(PermissionError):
    """This process must not open such packs, so it was given no key for them."""


def pack_key(kind: str) -> bytes:
    """The 32-byte key that wraps the keys of packs of that kind; raises KeyWithheld."""
    key: bytes | None = getattr(settings, KEY_NAME[AssetPack.Kind(kind)])
    if key is None:
        raise KeyWithheld(f"this process holds no key for {kind} packs")
    return key


def open_pack(pack: AssetPack) -> bytes:
    """The key of that pack; raises KeyWithheld, vault.SealBroken."""
    return vault.unwrap(bytes(pack.wrapped_key), under=pack_key(pack.kind))
