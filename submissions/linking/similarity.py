"""How alike two HarnessCards are. Pure.

Let W(c) be the set of pairs (place, word) of card c: for each text, number or truth value its place without list
positions, and its words after NFKC and case folding; a Chinese, Japanese or Korean character is a word of its own.
The schema's name is left out. Then

    similarity(a, b) = |W(a) ∩ W(b)| / |W(a) ∪ W(b)|      (Jaccard)

which is 1 for equal cards and 0 where nothing stands at the same place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

NEAR = 0.9
"""From this similarity on two cards are near-identical."""
FEWEST = 20
"""Cards with fewer pairs say too little to be compared."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
Words = frozenset[tuple[str, str]]


def words(card: dict[str, Any]) -> Words:
    """W(card)."""
    return frozenset(_pairs({name: value for name, value in card.items() if name != "schema"}, ""))


def similarity(one: Words, other: Words) -> float:
    """Jaccard's index; 0 for two empty sets."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def near(one: Words, other: Words) -> bool:
    """Whether the two cards are near-identical and say enough."""
    if min(len(one), len(other)) < FEWEST or min(len(one), len(other)) < NEAR * max(len(one), len(other)):
        return False
    return similarity(one, other) >= NEAR


def _pairs(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _pairs(inner, f"{place}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _pairs(inner, place)
    elif value is not None:
        text = unicodedata.normalize("NFKC", str(value)).casefold()
        yield from ((place, word) for word in _WORD.findall(text))
