"""Whose CI identities are believed: a closed list of issuers, each with the form of its claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

DIALECTS = ("github", "gitlab")
#: What stands where `LINGEE_OIDC_ISSUERS` says nothing else.
PUBLIC = ("github=https://token.actions.githubusercontent.com", "gitlab=https://gitlab.com")


def issuers(words: Iterable[str]) -> dict[str, str]:
    """By address: `github` or `gitlab`. Each word is `dialect=address`; plain http only on the loopback address."""
    found: dict[str, str] = {}
    for word in words:
        dialect, _, address = word.partition("=")
        if dialect not in DIALECTS or not is_issuer(address):
            raise ImproperlyConfigured(
                f"LINGEE_OIDC_ISSUERS: {word!r} is no `github=https://…` or `gitlab=https://…`"
            )
        found[address] = dialect
    return found


def https_only(found: Mapping[str, str]) -> dict[str, str]:
    """The same, where none is plain http."""
    for address in found:
        if not address.startswith("https://"):
            raise ImproperlyConfigured(f"LINGEE_OIDC_ISSUERS: {address} is not https")
    return dict(found)


def is_issuer(address: str) -> bool:
    """Whether an address can be an issuer's: https, or http on the loopback address; no query, no credentials."""
    try:
        parts = urlsplit(address)
        loopback = parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        loopback = False
        parts = urlsplit("") if "[" in address else urlsplit(address)
    plain = not (parts.query or parts.fragment or parts.username or address.endswith("/"))
    return (
        bool(parts.hostname) and plain and (parts.scheme == "https" or (parts.scheme == "http" and loopback))
    )
