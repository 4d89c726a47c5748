"""Reading JSON bodies strictly, so that nothing a client can send becomes a failure further in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from submissions.problems.handler import BODY_BYTES

DEPTH = 32
"""Levels of nesting; the deepest body that the API takes has eight."""
INTEGER_DIGITS = 18


class StrictJSONParser(BaseParser):
    """UTF-8 JSON of at most 2 MiB: no NUL, lone surrogate, NaN, repeated key, endless number or deep nesting."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The parsed body. Raises ParseError, RequestDataTooBig."""
        data = stream.read(BODY_BYTES + 1)
        if len(data) > BODY_BYTES:
            raise RequestDataTooBig
        try:
            found = json.loads(
                data.decode("utf-8"),
                parse_constant=_no_constant,
                parse_int=_integer,
                parse_float=_float,
                object_pairs_hook=_object,
            )
        except UnicodeDecodeError:
            raise ParseError("it is not UTF-8") from None
        except json.JSONDecodeError as error:
            raise ParseError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
        except RecursionError:
            raise ParseError("it is nested too deeply") from None
        _check(found, 0)
        return found


def _no_constant(name: str) -> Any:
    raise ParseError(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > INTEGER_DIGITS:
        raise ParseError("a number is too large")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ParseError("a number is too large")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ParseError("an object has a key twice")
    return found


def _check(value: Any, depth: int) -> None:
    if depth > DEPTH:
        raise ParseError("it is nested too deeply")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth + 1)


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise ParseError("a text holds a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ParseError("a text holds half a surrogate pair")
