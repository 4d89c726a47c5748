"""Marks: keyed hashes by which equal registration data and networks are found without opening anything.

The key is derived from the people key, so that only processes that serve people can make a mark; everything else
can only compare them. A mark of one kind never equals one of another.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import unicodedata

from accounts.names import people_key

BITS_V4, BITS_V6 = 24, 48
_FORMS = (
    "co ltd",
    "company limited",
    "limited",
    "ltd",
    "inc",
    "corp",
    "gmbh",
    "llc",
    "有限公司",
    "有限责任公司",
    "股份有限公司",
)


def normal(text: str) -> str:
    """NFKC, case folded, letters and digits only, legal forms at the end left out."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = " ".join("".join(c if c.isalnum() else " " for c in folded).split())
    for form in sorted(_FORMS, key=len, reverse=True):
        if words.endswith(form) and len(words) > len(form):
            words = words[: -len(form)].rstrip()
            break
    return words.replace(" ", "")


def mark(kind: str, text: str) -> str:
    """The mark of `text`, 64 hex digits; empty for a text that says nothing. Raises names.NoPeopleKey."""
    said = text.strip().casefold().rstrip(".") if kind == "domain" else normal(text)
    return _hashed(kind, said) if said else ""


def network_mark(address: str) -> str:
    """The mark of the /24 or /48 that the address lies in; empty for addresses that are not public."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return ""
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    if not found.is_global:
        return ""
    bits = BITS_V4 if found.version == 4 else BITS_V6
    return _hashed("network", str(ipaddress.ip_network((found, bits), strict=False)))


def _hashed(kind: str, text: str) -> str:
    key = hmac.new(people_key(), b"marks of registrations", hashlib.sha256).digest()
    return hmac.new(key, f"{kind}\0{text}".encode(), hashlib.sha256).hexdigest()
