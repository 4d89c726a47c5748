"""Texts for vendors and the public give nothing held out away, and ordinary sentences are left alone."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some

from governance.records.linter import shingles
from governance.records.linter.core import Material, Rule, lint
from governance.records.linter.shingles import Prints
from tests.governance.records import texts

SALT = bytes(range(32))


def material(**other: object) -> Material:
    public = {found for found, _, _ in shingles.of_text(SALT, texts.PUBLIC)}
    codes = {code for code, _, _ in shingles.codes(texts.STATEMENT)} | {"三单核对结果.csv"}
    facts: dict[str, object] = {
        "salt": SALT,
        "quotes": Prints.of(shingles.winnowed(SALT, texts.STATEMENT) - public),
        "values": Prints.of(shingles.values(SALT, texts.STATEMENT)),
        "codes": Prints.of(shingles.code_print(SALT, code) for code in codes),
        "slugs": texts.SLUGS,
        "families": texts.FAMILIES,
        "titles": texts.TITLES,
        "vendors": texts.VENDORS,
        "public_numbers": frozenset({1335, 286, 477}),
    }
    return Material(**{**facts, **other})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", texts.PASSES)
def test_ordinary_sentences_pass(text: str) -> None:
    assert lint(text, material()) == []


@pytest.mark.parametrize(("rule", "text"), texts.LEAKS)
def test_each_rule_finds_its_kind(rule: Rule, text: str) -> None:
    found = [row for row in lint(text, material()) if row.rule == rule]
    assert found
    assert all(text[row.start : row.end] == row.excerpt for row in found)


def test_without_fingerprints_nothing_passes() -> None:
    assert [row.rule for row in lint("The use is returned.", material(quotes=None))] == [Rule.NO_INDEX]


def test_the_form_of_letters_does_not_matter() -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in "PO-94417")
    for text in (f"订单 {wide}", "订单 po-94417", unicodedata.normalize("NFD", "订单 PO-94417")):
        assert [row.rule for row in lint(text, material())] == [Rule.IDENTIFIER], text


CHINESE = some.text(alphabet=[chr(code) for code in range(0x4E00, 0x4E80)], min_size=40, max_size=120)
WORDS = some.lists(some.text(alphabet="abcdefghij", min_size=3, max_size=7), min_size=25, max_size=60)


@given(document=CHINESE, start=some.integers(0, 27), before=some.sampled_from(["", "题面是：", "quote "]))
def test_twelve_characters_of_a_chinese_document_are_always_found(
    document: str, start: int, before: str
) -> None:
    held = material(quotes=Prints.of(shingles.winnowed(SALT, document)), values=(), codes=())
    quote = document[start : start + 12]
    assert Rule.QUOTE in {row.rule for row in lint(f"{before}{quote}。", held)}


@given(words=WORDS, start=some.integers(0, 17))
def test_eight_words_of_a_document_are_always_found(words: list[str], start: int) -> None:
    held = material(quotes=Prints.of(shingles.winnowed(SALT, " ".join(words))), values=(), codes=())
    quote = ", ".join(words[start : start + 8]).upper()
    assert Rule.QUOTE in {row.rule for row in lint(f"It reads: {quote}!", held)}


@given(rows=some.sets(some.binary(min_size=shingles.SIZE, max_size=shingles.SIZE)), other=some.binary())
def test_prints_hold_what_they_were_made_of(rows: set[bytes], other: bytes) -> None:
    found = Prints.of(rows)
    assert all(row in found for row in rows)
    assert (other in found) == (other in rows)
    assert len(Prints(found.data)) == len(rows)


def test_fingerprints_hold_no_plain_word_and_differ_by_salt() -> None:
    one, other = (shingles.winnowed(salt, texts.STATEMENT) for salt in (SALT, bytes(32)))
    assert one
    assert not one & other
