"""How a number in a workbook cell reads as text: plain, percentage or date, by its number format."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Context, Decimal, InvalidOperation
from enum import Enum

from scoring.artefacts import ArtefactError, Reason

MAX_FORMATS = 5_000
MAX_STYLES = 65_000
_MAX_CODE_CHARS = 255

# Built-in format numbers, ECMA-376 part 1, 18.8.30, with the East Asian ones.
_DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)})
_PERCENT_FORMATS = frozenset({9, 10})
_LITERALS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\[\]]*\]')
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
# A workbook stores binary fractions; fifteen digits are what its programs themselves show.
_SHOWN = Context(prec=15)
# Days from either epoch to the end of the year 9999, the last a date can have; from there on it is a number.
_LAST_DAY = 2_958_465


class Kind(Enum):
    """What the style of a cell makes of its number."""

    PLAIN = "plain"
    PERCENT = "percent"
    DATE = "date"


class Epoch(Enum):
    """Day zero of a workbook's serial dates."""

    Y1900 = datetime(1899, 12, 30)  # noqa: DTZ001 - serial dates have no zone
    Y1904 = datetime(1904, 1, 1)  # noqa: DTZ001


class Formats:
    """Number formats and the cell styles that use them."""

    def __init__(self) -> None:
        self._custom: dict[int, Kind] = {}
        self._styles: list[Kind] = []

    def define(self, number: int, code: str) -> None:
        """Take note of a custom format."""
        if len(self._custom) >= MAX_FORMATS:
            raise ArtefactError(Reason.TOO_LARGE)
        self._custom[number] = _kind_of(code[:_MAX_CODE_CHARS])

    def add_style(self, number: int) -> None:
        """The next cell style shows its numbers by this format."""
        if len(self._styles) >= MAX_STYLES:
            raise ArtefactError(Reason.TOO_LARGE)
        builtin = (
            Kind.PERCENT
            if number in _PERCENT_FORMATS
            else Kind.DATE
            if number in _DATE_FORMATS
            else Kind.PLAIN
        )
        self._styles.append(self._custom.get(number, builtin))

    def kind(self, style: str | None) -> Kind:
        """The kind of a cell by its style index; plain where the index is absent or unknown."""
        index = int(style) if style and style.isascii() and style.isdigit() and len(style) < 7 else 0
        return self._styles[index] if index < len(self._styles) else Kind.PLAIN


def _kind_of(code: str) -> Kind:
    shown_part = _LITERALS.sub("", code.partition(";")[0])
    if "%" in shown_part:
        return Kind.PERCENT
    return Kind.DATE if _DATE_LETTERS.search(shown_part) and shown_part.lower() != "general" else Kind.PLAIN


def shown(value: str, kind: Kind, epoch: Epoch) -> str:
    """The text of a numeric cell: "12.5", "12.5%" or an ISO date; "" for an empty one."""
    text = value.strip()
    if not _NUMBER.fullmatch(text):
        return text
    try:
        number = _SHOWN.create_decimal(text)
    except InvalidOperation:
        return text
    if kind is Kind.PERCENT:
        return f"{_digits(number * 100)}%"
    return _date(number, epoch) if kind is Kind.DATE else _digits(number)


def _digits(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _date(serial: Decimal, epoch: Epoch) -> str:
    """ISO date, with the time where there is one; a serial that is no date stays a number."""
    # Day 60 of the 1900 epoch is a 29 February that never was, so days before it lie one later.
    if abs(serial) > _LAST_DAY:
        return _digits(serial)
    shift = 1 if epoch is Epoch.Y1900 and serial < 60 else 0
    try:
        moment = epoch.value + timedelta(days=int(serial) + shift, seconds=round(float(serial % 1) * 86_400))
    except OverflowError:
        return _digits(serial)
    if serial < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d" if serial == int(serial) else "%Y-%m-%d %H:%M:%S")
