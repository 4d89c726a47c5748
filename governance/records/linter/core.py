"""What in a text that staff write to vendors or the public would tell of held-out tasks, or of another vendor.

Pure: a text and what is held out, as strings and fingerprints, in; findings with their places out. What it cannot see
is a paraphrase: it helps the second pair of eyes, and does not replace it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from governance.records.linter import numbers, shingles
from governance.records.linter.shingles import Token


class Rule(StrEnum):
    """What a place of the text would give away."""

    NO_INDEX = "no_index"
    TASK = "task"
    FAMILY = "family"
    TITLE = "title"
    IDENTIFIER = "identifier"
    QUOTE = "quote"
    VALUE = "value"
    FINE_NUMBER = "fine_number"
    COUNT = "count"
    VENDOR = "vendor"


@dataclass(frozen=True)
class Finding:
    """One place of the text, by character, and the rule that it breaks."""

    rule: Rule
    start: int
    end: int
    excerpt: str


@dataclass(frozen=True)
class Material:
    """What is held out, and who else there is. Fingerprints are keyed with `salt`; None where none were made yet."""

    salt: bytes = b""
    quotes: Container[bytes] | None = None
    values: Container[bytes] = ()
    codes: Container[bytes] = ()
    slugs: Sequence[str] = ()
    families: Sequence[str] = ()
    titles: Sequence[str] = ()
    vendors: Sequence[str] = ()
    public_numbers: frozenset[int] = field(default=frozenset())
    """Whole numbers that everybody knows: how many tasks a version and its domains have."""


def lint(text: str, material: Material) -> list[Finding]:
    """Every finding, in the order of the text; of findings by one rule that overlap, one that spans them."""
    found = [
        *_slugs(text, material),
        *_phrases(text, Rule.FAMILY, _family_phrases(material.families)),
        *_phrases(text, Rule.TITLE, _worded(material.titles, least=2)),
        *_codes(text, material),
        *_prints(text, Rule.QUOTE, material.quotes or (), shingles.of_text, material.salt),
        *_prints(text, Rule.VALUE, material.values, shingles.value_prints, material.salt),
        *(
            Finding(Rule(rule), at, to, text[at:to])
            for rule, at, to in numbers.found(shingles.plain(text), material.public_numbers)
        ),
        *_vendors(text, material.vendors),
    ]
    if material.quotes is None:
        found.append(Finding(Rule.NO_INDEX, 0, 0, ""))
    return _merged(text, found)


def _merged(text: str, found: Sequence[Finding]) -> list[Finding]:
    rows: list[Finding] = []
    for one in sorted(found, key=lambda row: (row.rule, row.start, row.end)):
        last = rows[-1] if rows else None
        if last and last.rule == one.rule and one.start < last.end:
            end = max(last.end, one.end)
            rows[-1] = Finding(one.rule, last.start, end, text[last.start : end])
        else:
            rows.append(one)
    return sorted(rows, key=lambda row: (row.start, row.end, row.rule))


def _slugs(text: str, material: Material) -> Iterator[Finding]:
    """A task's id, whole or without its domain, however its parts are joined."""
    parts = set()
    for slug in material.slugs:
        words = slug.split("-")
        parts |= {tuple(words[at:]) for at in range(max(1, len(words) - 1))}
    telling = {words for words in parts if len(words) > 1 and any(map(str.isdigit, words[-1]))}
    yield from _phrases(text, Rule.TASK, telling)


def _family_phrases(families: Sequence[str]) -> set[tuple[str, ...]]:
    """A family's key with its prefix, and its name where that is more than one word."""
    found = set()
    for family in families:
        words = tuple(family.split("-"))
        found |= {words, *([words[1:]] if len(words) > 2 else [])}
    return {words for words in found if len(words) > 1}


def _worded(phrases: Sequence[str], *, least: int) -> set[tuple[str, ...]]:
    rows = {tuple(token.text for token in shingles.tokens(phrase)) for phrase in phrases}
    return {row for row in rows if len(row) >= least}


def _phrases(text: str, rule: Rule, phrases: Collection[tuple[str, ...]]) -> Iterator[Finding]:
    """Runs of tokens that are one of the phrases; what stands between the words does not matter."""
    row = shingles.tokens(text)
    lengths = sorted({len(phrase) for phrase in phrases})
    known = {phrase if isinstance(phrase, tuple) else tuple(phrase) for phrase in phrases}
    joined = {"".join(phrase): phrase for phrase in known}
    for start in range(len(row)):
        if row[start].text in joined and len(joined[row[start].text]) > 1:
            yield _finding(text, rule, row[start], row[start])
        for length in lengths:
            window = row[start : start + length]
            if len(window) == length and tuple(token.text for token in window) in known:
                yield _finding(text, rule, row[start], row[start + length - 1])


def _codes(text: str, material: Material) -> Iterator[Finding]:
    for code, start, end in shingles.codes(text):
        if shingles.code_print(material.salt, code) in material.codes:
            yield Finding(Rule.IDENTIFIER, start, end, text[start:end])


Prints = Callable[[bytes, str], "Iterator[tuple[bytes, Token, Token]] | list[tuple[bytes, Token, Token]]"]


def _prints(text: str, rule: Rule, held: Container[bytes], made: Prints, salt: bytes) -> Iterator[Finding]:
    for found, first, last in made(salt, text):
        if found in held:
            yield _finding(text, rule, first, last)


def _vendors(text: str, names: Sequence[str]) -> Iterator[Finding]:
    """Names of other organisations and their harnesses. One plain Latin word counts only as it is written."""
    several = set()
    for name in names:
        row = tuple(token.text for token in shingles.tokens(name))
        if len(row) > 1:
            several.add(row)
        elif row and len(name.strip()) >= 2:
            for match in re.finditer(rf"(?<!\w){re.escape(name.strip())}(?!\w)", text):
                yield Finding(Rule.VENDOR, match.start(), match.end(), match.group())
    yield from _phrases(text, Rule.VENDOR, several)


def _finding(text: str, rule: Rule, first: Token, last: Token) -> Finding:
    return Finding(rule, first.start, last.end, text[first.start : last.end])
