"""Equivalence of single values: what counts as the same text and the same number.

Numbers are Decimals throughout. Missing is not zero, and "cannot be computed" is a value of its own.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import Enum

from scoring import units
from scoring.texts import UNEQUAL, canonical_text

MAX_NUMBER_CHARS = 64
_MAX_EXPONENT = 30
# Wide enough that no accepted number (64 characters, exponent 30) is ever rounded by reading it.
_CONTEXT = Context(prec=120, rounding=ROUND_HALF_UP)


class Special(Enum):
    """Readings of a cell that are no number."""

    MISSING = "missing"
    CANNOT_COMPUTE = "cannot_compute"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written, with the unit stated beside it (None where none is stated)."""

    value: Decimal
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may lie from the expected one; at most one field is set, none means equal.

    absolute: in the expected unit. relative: share of the expected value. decimals: both are rounded half up
    to so many decimals, percentages in percentage points.
    """

    absolute: Decimal | None = None
    relative: Decimal | None = None
    decimals: int | None = None


EXACT = Tolerance()


class NotANumber(ValueError):
    """The text holds something besides one number."""


_MISSING = frozenset(
    {"", "-", "--", "---", "—", "——", "–", "/", "n/a", "na", "#n/a", "null", "none", "nan", "空"}
)
_CANNOT = frozenset(
    {
        "无法计算", "不能计算", "不可计算", "无法算出",
        "cannot_compute", "cannot compute", "cannot be computed", "can not be computed", "not computable",
    }
)  # fmt: skip
# The home currency's marks say nothing about 元 or 万元, so they are dropped; a foreign one is a unit.
_HOME_MARK = re.compile(r"^(?:人民币|rmb|cny|cn¥|¥)\s*")
_FOREIGN_MARKS = {
    "us$": "usd", "usd": "usd", "hk$": "hkd", "hkd": "hkd", "$": "usd", "€": "eur", "eur": "eur",
    "£": "gbp", "gbp": "gbp", "₩": "krw",
}  # fmt: skip
_GROUPED = "|".join(
    rf"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?:\.[0-9]+)?(?![0-9{mark}])" for mark in (",", " ", "'")
)
_NUMBER = re.compile(
    rf"(?P<digits>{_GROUPED}|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e(?P<exponent>[+-]?[0-9]{{1,3}}))?"
)
_BRACKETED = re.compile(r"(?P<mark>[^0-9()]*)\((?P<inside>[^()]+)\)(?P<tail>[^()]*)")
_MINUS = str.maketrans({"−": "-", "﹣": "-", "‐": "-", "‑": "-", "–": "-", "’": "'"})
# The spelling of nearly all numbers; what it takes means the same on the long way.
_SIMPLE = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def read_number(text: str) -> Quantity | Special:
    """Read one number cell.

    Takes grouping by comma, space or apostrophe (in threes), full-width digits and punctuation, a currency
    mark, a sign or brackets for a negative, one known unit behind the number. Raises NotANumber for anything
    else, so "约 1,200", "1,23" and "10²" are no numbers.
    """
    if len(text) <= MAX_NUMBER_CHARS and _SIMPLE.fullmatch(text):
        number = _CONTEXT.create_decimal(text)
        return Quantity(number or number.copy_abs())
    plain = canonical_text(text)
    if plain == UNEQUAL:
        raise NotANumber(text[:MAX_NUMBER_CHARS])
    if plain in _MISSING:
        return Special.MISSING
    if plain.rstrip(".。") in _CANNOT:
        return Special.CANNOT_COMPUTE
    # NFKC would turn ² and ① into digits: such a cell never was a plain number.
    if len(plain) > MAX_NUMBER_CHARS or (not text.isascii() and _has_digit_sign(text.strip())):
        raise NotANumber(plain[:MAX_NUMBER_CHARS])
    body, negative, foreign = _strip_marks(plain.translate(_MINUS))
    match = _NUMBER.match(body)
    if match is None or abs(int(match["exponent"] or 0)) > _MAX_EXPONENT:
        raise NotANumber(plain)
    unit = body[match.end() :].replace(" ", "") or None
    if unit is not None and not units.is_known(unit):
        raise NotANumber(plain)
    if foreign is not None and unit is not None:
        raise NotANumber(plain)
    digits = match["digits"].replace(",", "").replace(" ", "").replace("'", "")
    number = _CONTEXT.create_decimal(digits).scaleb(int(match["exponent"] or 0), _CONTEXT)
    return Quantity(number.copy_negate() if negative and number else number, foreign or unit)


def _has_digit_sign(text: str) -> bool:
    return any(unicodedata.category(char) == "No" for char in text)


def _strip_marks(plain: str) -> tuple[str, bool, str | None]:
    """Take sign, accounting brackets and currency mark off: (rest, negative, foreign currency)."""
    bracketed = _BRACKETED.fullmatch(plain)
    body = plain if bracketed is None else f"{bracketed['mark']}{bracketed['inside']}{bracketed['tail']}"
    sign, body = _take_sign(body)
    foreign, body = _take_currency(body)
    if sign is None:
        sign, body = _take_sign(body)
    if sign is not None and bracketed is not None:
        raise NotANumber(plain)
    return body, sign == "-" or bracketed is not None, foreign


def _take_sign(body: str) -> tuple[str | None, str]:
    return (body[0], body[1:].lstrip()) if body[:1] in ("+", "-") else (None, body)


def _take_currency(body: str) -> tuple[str | None, str]:
    if "0" <= body[:1] <= "9":
        return None, body
    for mark, currency in _FOREIGN_MARKS.items():
        if body.startswith(mark):
            return currency, body[len(mark) :].lstrip()
    return None, _HOME_MARK.sub("", body, count=1)


def in_unit(number: Quantity, unit: str | None) -> Decimal | None:
    """The number expressed in `unit`; None where the two units do not convert."""
    ratio = units.ratio(number.unit, into=unit)
    return None if ratio is None else _CONTEXT.divide(_CONTEXT.multiply(number.value, ratio[0]), ratio[1])


def plain_text(number: Decimal) -> str:
    """One spelling for equal numbers. As keys, texts cannot be chosen to collide; Decimals can."""
    return str(number.normalize(_CONTEXT))


def same_number(found: Quantity, expected: Quantity, tolerance: Tolerance = EXACT) -> bool:
    """Whether `found` equals `expected` after unit conversion, within the tolerance (bounds included)."""
    target = Quantity(expected.value, expected.unit)
    if tolerance.decimals is not None and expected.unit is None:
        # A tolerance in decimals is for percentages: a bare ratio is compared in percentage points.
        target = Quantity(_CONTEXT.multiply(expected.value, Decimal(100)), "%")
    value = in_unit(found, target.unit)
    if value is None:
        return False
    if tolerance.decimals is not None:
        step = Decimal(1).scaleb(-tolerance.decimals)
        return value.quantize(step, context=_CONTEXT) == target.value.quantize(step, context=_CONTEXT)
    room = tolerance.absolute or Decimal(0)
    if tolerance.relative is not None:
        room = _CONTEXT.multiply(tolerance.relative, target.value.copy_abs())
    return _CONTEXT.subtract(value, target.value).copy_abs() <= room
