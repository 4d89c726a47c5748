"""What counts as the same text: the one place where text of an artefact is normalised.

Unicode normalisation sorts the combining marks behind a letter, in time that grows with the square of their
number. So length and runs of marks are bounded before it; a text past a bound equals nothing, itself included.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MAX_TEXT_CHARS = 2_000
MAX_BODY_CHARS = 4 * 1024 * 1024
# The bound of the Stream-Safe Text Format, UAX #15 section 13: no language needs as many.
MAX_MARKS = 30
# A canonical text has no outer space, so that no text written in a rule is ever this one.
UNEQUAL = " "

_CACHED = 2_048
# Only characters of these blocks can be marks; ASCII, CJK ideographs and full-width forms break a run.
_MAY_BE_MARKS = re.compile(rf"[\u0300-\u2fff\u302a-\u4dff\ua000-\uff00\uff5f-\U0010ffff]{{{MAX_MARKS + 1},}}")
# No marks by their class, but they decompose into marks.
_HIDDEN_MARKS = frozenset("\u0f73\u0f75\u0f81\uff9e\uff9f")
# One character that becomes eighteen: spelt out before, it costs a hundredth.
_LONGEST_LIGATURE = "\ufdfa"
_SPELT_OUT = unicodedata.normalize("NFKC", _LONGEST_LIGATURE)


def canonical_text(text: str) -> str:
    """NFKC, outer space trimmed, inner space runs made one, case folded; UNEQUAL past a bound."""
    trimmed = text.strip()
    return UNEQUAL if len(trimmed) > MAX_TEXT_CHARS else _canonical(trimmed)


def canonical_body(text: str) -> str:
    """The same for the text of a whole file, in which others are looked for, with a bound of its own."""
    folded = _folded(text)
    return UNEQUAL if len(folded) > MAX_BODY_CHARS else folded


def same_text(left: str, right: str) -> bool:
    """Text equivalence: width, case and outer space do not count."""
    found = canonical_text(left)
    return found != UNEQUAL and found == canonical_text(right)


@lru_cache(_CACHED)
def _canonical(text: str) -> str:
    folded = _folded(text)
    return UNEQUAL if len(folded) > MAX_TEXT_CHARS else folded


def _folded(text: str) -> str:
    if not text.isascii():
        if len(text) > MAX_MARKS and _has_too_many_marks(text):
            return UNEQUAL
        text = unicodedata.normalize("NFKC", text.replace(_LONGEST_LIGATURE, _SPELT_OUT))
        text = text.replace("\ufeff", "").replace("\u200b", "")
    return " ".join(text.split()).casefold()


def _has_too_many_marks(text: str) -> bool:
    """Whether more marks follow each other than MAX_MARKS."""
    for run in _MAY_BE_MARKS.finditer(text):
        marks = 0
        for char in run[0]:
            marks = marks + 1 if unicodedata.combining(char) or char in _HIDDEN_MARKS else 0
            if marks > MAX_MARKS:
                return True
    return False
