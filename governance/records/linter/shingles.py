"""Texts as tokens and keyed fingerprints, so that what is compared need not be kept in plain words.

Pure. A token is a run of Latin letters and digits, or a single character of a script that writes no spaces. A shingle
is as many consecutive tokens as weigh `WEIGHT`: five words, or nine Chinese characters. Of a document only the least
of each `WINDOW` consecutive shingles is kept (winnowing: Schleimer, Wilkerson, Aiken, SIGMOD 2003); of a text that is
looked at, every shingle is asked for, so a quote of eight words or twelve characters is always found.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

WORD, CHARACTER = 9, 5
"""What a word and a character of Chinese weigh."""
WEIGHT = 45
WINDOW = 4
WORDS_KEPT = 65_536
SIZE = 6
"""Bytes of a fingerprint: a shingle that is not held out meets one of a million kept ones once in 281 million."""
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_CODE = re.compile(r"[A-Za-z0-9]+(?:[-_./#:][A-Za-z0-9]+)*")
_FILE = re.compile(r"[^\s/\\<>\"'`“”‘’，。；：、（）()\[\]【】《》|,;:*?]+\.[A-Za-z][A-Za-z0-9]{1,4}\b")
SHORTEST_CODE = 5
"""Characters of an identifier that tells one document from another."""
LEAST_VALUE = 20
"""Weight of the shortest cell of a table that tells anything: four Chinese characters, or three words."""
_CELL = re.compile(r"[,;|\t\r\n\"，；：:]")


@dataclass(frozen=True)
class Token:
    """A token in the form that is compared, and where it stands in the text."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=WORDS_KEPT)
def _same(word: str) -> str:
    """Full and half width, composed and decomposed, large and small letters are the same."""
    return unicodedata.normalize("NFKC", word).casefold()


@lru_cache(maxsize=WORDS_KEPT)
def _weight(word: str) -> int:
    is_character = len(word) == 1 and "\u2e80" <= word <= "\ud7af"
    return CHARACTER if is_character else WORD


def tokens(text: str) -> list[Token]:
    """In order, in the form that is compared."""
    return [Token(_same(match.group()), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def words(text: str) -> list[str]:
    """The same without their places."""
    return list(map(_same, _TOKEN.findall(text)))


def shingles(row: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and one past the last token of each shingle."""
    weights = list(map(_weight, row))
    end = weight = 0
    for start, own in enumerate(weights):
        while weight < WEIGHT and end < len(weights):
            weight += weights[end]
            end += 1
        if weight < WEIGHT:
            return
        yield start, end
        weight -= own


def fingerprint(salt: bytes, kind: bytes, parts: Iterable[str]) -> bytes:
    """`SIZE` bytes of keyed BLAKE2b over the parts."""
    found = _keyed(salt, kind).copy()
    found.update("\x1f".join(parts).encode())
    return found.digest()


@lru_cache(maxsize=8)
def _keyed(salt: bytes, kind: bytes) -> hashlib.blake2b:
    """Keying costs as much as hashing, so it is done once."""
    return hashlib.blake2b(digest_size=SIZE, key=salt, person=kind)


def of_text(salt: bytes, text: str) -> list[tuple[bytes, Token, Token]]:
    """Every shingle's fingerprint, with its first and last token."""
    row = tokens(text)
    same = [token.text for token in row]
    return [
        (fingerprint(salt, b"quote", same[start:end]), row[start], row[end - 1])
        for start, end in shingles(same)
    ]


def every(salt: bytes, text: str) -> list[bytes]:
    """Every shingle's fingerprint, in order."""
    row = words(text)
    return [fingerprint(salt, b"quote", row[start:end]) for start, end in shingles(row)]


def winnowed(salt: bytes, text: str) -> set[bytes]:
    """The fingerprints that are kept of a document."""
    row = every(salt, text)
    return {min(row[at : at + WINDOW]) for at in range(max(1, len(row) - WINDOW + 1)) if row}


def plain(text: str) -> str:
    """The same with letters and digits of one width; as it is where places would move by that."""
    same = unicodedata.normalize("NFKC", text)
    return same if len(same) == len(text) else text


def codes(text: str) -> Iterator[tuple[str, int, int]]:
    """Identifiers: letters with digits, such as document numbers, and file names; as compared, with their places."""
    same = plain(text)
    for match in _CODE.finditer(same):
        found = match.group()
        has_both = any(map(str.isdigit, found)) and any(map(str.isalpha, found))
        if len(found) >= SHORTEST_CODE and has_both:
            yield found.casefold(), match.start(), match.end()
    for match in _FILE.finditer(same):
        yield match.group().casefold(), match.start(), match.end()


def values(salt: bytes, text: str) -> set[bytes]:
    """Cells of tables and short lines: names of parties, goods, places, too short for a shingle."""
    found = set()
    for cell in set(_CELL.split(text)):
        row = words(cell)
        if LEAST_VALUE <= sum(map(_weight, row)) < WEIGHT:
            found.add(fingerprint(salt, b"value", row))
    return found


def value_prints(salt: bytes, text: str) -> Iterator[tuple[bytes, Token, Token]]:
    """Every run of tokens of `text` that could be such a cell."""
    row = tokens(text)
    for start in range(len(row)):
        weight = 0
        for end in range(start, len(row)):
            weight += _weight(row[end].text)
            if weight >= WEIGHT:
                break
            if weight >= LEAST_VALUE:
                parts = (token.text for token in row[start : end + 1])
                yield fingerprint(salt, b"value", parts), row[start], row[end]


def code_print(salt: bytes, code: str) -> bytes:
    return fingerprint(salt, b"code", [code])


class Prints:
    """A sorted run of fingerprints, looked up where it lies."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._rows = range(len(data) // SIZE)

    @classmethod
    def of(cls, found: Iterable[bytes]) -> Prints:
        return cls(b"".join(sorted(found)))

    @property
    def data(self) -> bytes:
        return self._data

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, found: object) -> bool:
        if not isinstance(found, bytes):
            return False
        at = bisect_left(self._rows, found, key=self._at)
        return at < len(self._rows) and self._at(at) == found

    def _at(self, row: int) -> bytes:
        return self._data[row * SIZE : (row + 1) * SIZE]
