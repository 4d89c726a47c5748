"""The exact bytes of an audit event: what is hashed is what is stored (RFC 6962 leaves hash these bytes)."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

MAXIMUM_BYTES = 16 * 1024

Json: TypeAlias = "str | int | Sequence[Json] | Mapping[str, Json]"


class NotCanonical(ValueError):
    """The value has no canonical form: a float, a boolean, a null, a key that is no string, or too many bytes."""


def _clean(value: object, where: str) -> object:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, bool) or value is None or isinstance(value, float):
        raise NotCanonical(f"{where}: only strings, integers, lists and objects stand in an event")
    if isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise NotCanonical(f"{where}: keys are strings")
        return {
            unicodedata.normalize("NFC", key): _clean(item, f"{where}.{key}") for key, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_clean(item, f"{where}[{index}]") for index, item in enumerate(value)]
    raise NotCanonical(f"{where}: {type(value).__name__} has no canonical form")


def canonical_bytes(body: Mapping[str, object]) -> bytes:
    """One UTF-8 JSON object: sorted keys, no spaces, NFC, integers and strings only, at most 16 KiB.

    Raises NotCanonical.
    """
    text = json.dumps(_clean(body, "event"), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    data = text.encode("utf-8")
    if len(data) > MAXIMUM_BYTES:
        raise NotCanonical(f"event: {len(data)} bytes, at most {MAXIMUM_BYTES}; keep evidence in the store")
    return data


def leaf_hash(data: bytes) -> bytes:
    """The Merkle leaf hash of an entry, 32 bytes (RFC 6962, section 2.1)."""
    return hashlib.sha256(b"\x00" + data).digest()


def timestamp(at: datetime) -> str:
    """RFC 3339 in UTC with microseconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
