"""Credentials of upstreams: boxed where they come in, opened only where upstreams are called."""

from __future__ import annotations

from django.conf import settings

from config import vault
from evaluation.upstreams.models import ModelUpstream, UpstreamCredential

SHOWN = 4
LONG_ENOUGH = 20
"""Below this, four shown characters would be too much of it."""


class NoBox(RuntimeError):
    """This process takes no credentials in."""


class NotHere(RuntimeError):
    """This process opens no credentials."""


def boxed(upstream: ModelUpstream, credential: str) -> bytes:
    """The credential as it is kept. Raises NoBox."""
    key: bytes | None = settings.VAULT_BOX_UPSTREAM
    if key is None:
        raise NoBox
    return vault.box(credential.encode(), to=key, about=upstream.id.bytes)


def hint_of(credential: str) -> str:
    """What may be shown of it later."""
    return credential[-SHOWN:] if len(credential) >= LONG_ENOUGH else ""


def opened(row: UpstreamCredential) -> str:
    """The credential again, for a call. Raises NotHere, and vault.SealBroken for another upstream's."""
    key: bytes | None = settings.VAULT_KEY_UPSTREAM
    if key is None:
        raise NotHere
    return vault.open_box(bytes(row.boxed), private=key, about=row.upstream_id.bytes).decode()
