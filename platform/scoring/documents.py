"""JSON documents and values at dotted paths in them. Every scalar is kept as the text it was written as."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeAlias

from scoring.artefacts import ArtefactError, Artefacts, Reason, decode
from scoring.model import DocumentContract
from scoring.texts import same_text
from scoring.values import NotANumber, Quantity, Special, read_number, same_number

MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
MAX_DOCUMENT_VALUES = 200_000
_PLAIN_NUMBER = re.compile(r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$")

Value: TypeAlias = "str | bool | list[Value] | dict[str, Value] | None"


class NoValue(Exception):
    """Nothing stands at the path."""


def read_document(artefacts: Artefacts, contract: DocumentContract) -> Mapping[str, Value]:
    """Read a JSON object; raises ArtefactError. Numbers come as text, so that no digit is lost."""
    text = decode(artefacts.read(contract.file, MAX_DOCUMENT_BYTES))
    # Each value but the first of its list or object stands behind a comma, so this bounds what is built.
    if sum(map(text.count, ",[{")) > MAX_DOCUMENT_VALUES:
        raise ArtefactError(Reason.TOO_LARGE)
    try:
        data = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError, MemoryError):
        raise ArtefactError(Reason.MALFORMED) from None
    if not isinstance(data, dict):
        raise ArtefactError(Reason.MALFORMED)
    return data


def value_at(data: Value | Mapping[str, Value], path: str) -> Value:
    """The value at a dotted path (numbers index lists); raises NoValue. A key may itself hold dots."""
    if isinstance(data, Mapping):
        if path in data:
            return data[path]
        for cut, letter in enumerate(path):
            if letter == "." and path[:cut] in data:
                return value_at(data[path[:cut]], path[cut + 1 :])
    if isinstance(data, list):
        head, _, rest = path.partition(".")
        if head.isascii() and head.isdigit() and len(head) < 7 and int(head) < len(data):
            return value_at(data[int(head)], rest) if rest else data[int(head)]
    raise NoValue(path)


def same_value(expected: str, found: Value) -> bool:
    """Same text; or, where the expected value is a plain number, the same number.

    A code with leading zeros ("0012") is no plain number, so it never equals 12.
    """
    if not isinstance(found, str):
        return False
    if same_text(expected, found):
        return True
    if not _PLAIN_NUMBER.match(expected):
        return False
    try:
        left, right = read_number(expected), read_number(found)
    except NotANumber:
        return False
    return isinstance(left, Quantity) and isinstance(right, Quantity) and same_number(right, left)


def same_expected(expected: str | bool | tuple[str, ...] | None, found: Value) -> bool:
    """Whether a value meets an expectation: scalar by `same_value`, list element by element in order."""
    if isinstance(expected, tuple):
        matched = isinstance(found, list) and len(found) == len(expected)
        return matched and isinstance(found, list) and all(map(same_value, expected, found))
    if expected is None or isinstance(expected, bool):
        return found is expected
    return same_value(expected, found)


def number_of(value: Value) -> Quantity | Special:
    """The number a value says; raises NotANumber."""
    if value is None:
        return Special.MISSING
    if not isinstance(value, str):
        raise NotANumber(type(value).__name__)
    return read_number(value)


def texts_of(value: Value) -> list[str]:
    """A list of scalars as texts; raises ArtefactError for anything else."""
    if not isinstance(value, list):
        raise ArtefactError(Reason.MALFORMED)
    texts = [entry for entry in value if isinstance(entry, str)]
    if len(texts) < len(value):
        raise ArtefactError(Reason.MALFORMED)
    return texts
