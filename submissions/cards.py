"""HarnessCards: reading the published JSON Schema, checking a card against it, and the digest of a card. No Django."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]

CARD_SCHEMA = 1
"""Version of the schema that new cards follow."""

MAXIMUM_BYTES = 256 * 1024
MAXIMUM_ERRORS = 50
DEPTH = 32
LARGEST_INTEGER = 10**18
SCHEMAS = Path(__file__).parent / "schemas"


class CardInvalid(ValueError):
    """`errors` holds (JSON path, message) pairs."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{path}: {message}" for path, message in errors[:3]))
        self.errors = errors


@lru_cache(maxsize=8)
def schema(name: str, version: int) -> dict[str, Any]:
    """A published JSON Schema, `harness-card` or `harness-toml`; raises FileNotFoundError. Not to be changed."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}-{version}.json").read_text(encoding="utf-8"))
    return found


def layers(version: int = CARD_SCHEMA) -> list[str]:
    """The names of the layers, in order; they are data of the schema."""
    return list(schema("harness-card", version)["x-layers"])


@lru_cache(maxsize=4)
def _validator(name: str, version: int) -> Draft202012Validator:
    found = schema(name, version)
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def violations(document: object, name: str, version: int) -> list[ValidationError]:
    """Where a document does not follow a published schema, in the order of their paths."""
    found = _validator(name, version).iter_errors(document)
    return sorted(found, key=lambda error: error.json_path)


def check(card: object, version: int = CARD_SCHEMA) -> dict[str, Any]:
    """The card in its canonical form, text in NFC and whole floats as integers; raises CardInvalid."""
    if not isinstance(card, dict):
        raise CardInvalid([("$", "is not an object")])
    unusable = _unusable(card, "$")
    if unusable:
        raise CardInvalid(unusable[:MAXIMUM_ERRORS])
    clean = _canonical(card)
    if len(canonical_json(clean)) > MAXIMUM_BYTES:
        raise CardInvalid([("$", f"is larger than {MAXIMUM_BYTES} bytes")])
    errors = violations(clean, "harness-card", version)
    if errors:
        said = list(dict.fromkeys(_said(error) for error in errors))
        raise CardInvalid(said[:MAXIMUM_ERRORS])
    found: dict[str, Any] = clean
    return found


def digest(card: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical_json(card)).hexdigest()


def canonical_json(card: object) -> bytes:
    """UTF-8, sorted keys, no spaces."""
    text = json.dumps(card, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def _canonical(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {unicodedata.normalize("NFC", key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return value


def _unusable(value: object, path: str, depth: int = 0) -> list[tuple[str, str]]:
    """What JSON text could carry but the database or a reader could not: NUL, lone surrogates, infinite numbers."""
    if depth > DEPTH:
        return [(path[:400], "is nested too deeply")]
    if isinstance(value, str):
        return [(path, "holds a character that cannot be stored")] if _broken(value) else []
    if isinstance(value, float) and not math.isfinite(value):
        return [(path, "is not a finite number")]
    if isinstance(value, dict):
        named = [
            (path, "has a key that is no text") for key in value if not isinstance(key, str) or _broken(key)
        ]
        return named or [
            error for key, item in value.items() for error in _unusable(item, f"{path}.{key[:80]}", depth + 1)
        ]
    if isinstance(value, list):
        return [
            error for at, item in enumerate(value) for error in _unusable(item, f"{path}[{at}]", depth + 1)
        ]
    if value is None or isinstance(value, bool | float):
        return []
    if isinstance(value, int):
        return [] if abs(value) < LARGEST_INTEGER else [(path, "is too large a number")]
    return [(path, f"is a {type(value).__name__}, which JSON does not have")]


def _broken(text: str) -> bool:
    return any(character == "\x00" or "\ud800" <= character <= "\udfff" for character in text)


def _said(error: ValidationError) -> tuple[str, str]:
    """Path and a message that repeats no long value."""
    messages = {
        "required": "lacks {lacking}",
        "additionalProperties": "has unknown keys: {unknown}",
        "maxLength": f"is longer than {error.validator_value} characters",
        "minLength": "is empty",
        "maxItems": f"has more than {error.validator_value} elements",
        "type": f"is not of type {error.validator_value}",
        "const": f"is not {error.validator_value!r}",
        "pattern": f"does not match {error.validator_value}",
        "minimum": f"is less than {error.validator_value}",
        "maximum": f"is more than {error.validator_value}",
    }
    message = messages.get(str(error.validator), "does not follow the schema")
    if error.validator == "required" and isinstance(error.instance, dict):
        lacking = [name for name in error.validator_value if name not in error.instance]
        message = message.format(lacking=", ".join(lacking))
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        unknown = sorted(set(error.instance) - set(error.schema.get("properties", {})))
        message = message.format(unknown=", ".join(name[:80] for name in unknown[:10]))
    return error.json_path[:400], message
