"""Strict reading of decoded YAML or JSON: errors name the place and the key, unknown keys are errors."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import TracebackType

from scoring.texts import UNEQUAL, canonical_text


class RulesError(ValueError):
    """A rule set does not keep the schema; the text begins with the rule id (or section) and the key."""


def is_safe_path(path: str) -> bool:
    """A relative path of plain parts: no "..", no drive, no backslash, no control character."""
    parts = path.split("/")
    return (
        bool(path)
        and "\\" not in path
        and path.isprintable()
        and all(p not in ("", ".", "..") for p in parts)
    )


class Fields:
    """One mapping being read. As a context manager it raises at the end for keys nobody asked for."""

    def __init__(self, where: str, data: object) -> None:
        if not isinstance(data, Mapping):
            raise RulesError(f"{where}: must be a mapping, got {_kind(data)}")
        for key in data:
            if not isinstance(key, str):
                raise RulesError(f"{where}: key {key!r} must be text; quote it")
        self.where = where
        self._data: dict[str, object] = dict(data)
        self._seen: set[str] = set()

    def __enter__(self) -> Fields:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()

    def finish(self) -> None:
        """Raise RulesError for keys that were never read."""
        for key in self._data:
            if key not in self._seen:
                raise RulesError(f"{self.where}.{key}: unknown key")

    def error(self, key: str, message: str) -> RulesError:
        """The error for this key, to be raised."""
        return RulesError(f"{self.where}.{key}: {message}")

    def has(self, key: str) -> bool:
        """Whether the key is present."""
        return key in self._data

    def names(self) -> tuple[str, ...]:
        """All keys, in order."""
        return tuple(self._data)

    def raw(self, key: str) -> object:
        """The value as decoded; the key must be present."""
        self._seen.add(key)
        if key not in self._data:
            raise self.error(key, "missing")
        return self._data[key]

    def text(self, key: str) -> str:
        """A non-empty text."""
        return as_text(self.raw(key), f"{self.where}.{key}")

    def optional_text(self, key: str) -> str | None:
        """A text, or None where the key is absent."""
        return self.text(key) if self.has(key) else None

    def path(self, key: str) -> str:
        """A safe relative path."""
        value = self.text(key)
        if not is_safe_path(value):
            raise self.error(key, f"must be a plain relative path, got {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; absent gives ()."""
        return as_texts(self.raw(key), f"{self.where}.{key}") if self.has(key) else ()

    def flag(self, key: str) -> bool:
        """true or false; absent gives False."""
        value = self.raw(key) if self.has(key) else False
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, got {_kind(value)}")
        return value

    def natural(self, key: str, *, default: int, most: int) -> int:
        """A whole number from 0 to `most`, written as a number or as digits."""
        value = self.raw(key) if self.has(key) else default
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise self.error(key, f"must be a whole number from 0 to {most}, got {value!r}")
        return value

    def decimal(self, key: str) -> Decimal:
        """A decimal written as text, finite and not negative."""
        value = self.raw(key)
        if not isinstance(value, str):
            raise self.error(key, f"must be a decimal string, got {_kind(value)}; quote it")
        try:
            number = Decimal(value)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or number < 0:
            raise self.error(key, f"must be a decimal string that is finite and not negative, got {value!r}")
        return number


def as_text(value: object, where: str) -> str:
    """`value` as non-empty text; YAML numbers and dates are refused, since they would lose their spelling."""
    if not isinstance(value, str):
        raise RulesError(f"{where}: must be text, got {_kind(value)}; quote it")
    if not value.strip():
        raise RulesError(f"{where}: must not be empty")
    return value


def as_texts(value: object, where: str) -> tuple[str, ...]:
    """`value` as a tuple of texts, each within the bounds of what can equal anything."""
    if not isinstance(value, list):
        raise RulesError(f"{where}: must be a list, got {_kind(value)}")
    texts = tuple(as_text(entry, f"{where}[{index}]") for index, entry in enumerate(value))
    for index, text in enumerate(texts):
        if canonical_text(text) == UNEQUAL:
            raise RulesError(f"{where}[{index}]: too long to equal anything")
    return texts


def _kind(value: object) -> str:
    return "nothing" if value is None else f"{value!r:.40} ({type(value).__name__})"
