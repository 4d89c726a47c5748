"""Names that people choose, as one line: they stand in the headers and sentences of mails, and in tables."""

from __future__ import annotations

import unicodedata

_TURNS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that change the direction of what follows, with which a name could rewrite the words around it."""


def folded(text: str) -> str:
    """`text` on one line: white space of any kind is one blank, and control characters are gone."""
    return " ".join("".join(mark for mark in text if mark.isspace() or not _controls(mark)).split())


def is_one_line(text: str) -> bool:
    """Whether there is neither a line break nor another control character in it."""
    return not any(_controls(mark) for mark in text)


def _controls(mark: str) -> bool:
    return mark in _TURNS or unicodedata.category(mark) in ("Cc", "Cs", "Zl", "Zp")
