"""Words that people typed stand in events as salted hashes only."""

from __future__ import annotations

import hashlib

from audit.texts import concealed, is_of


def test_whoever_has_the_words_can_check_them() -> None:
    found = concealed("Erika Mustermann")
    salt, digest = found.split(":")
    assert len(bytes.fromhex(salt)) == 16
    assert digest == hashlib.sha256(bytes.fromhex(salt) + b"Erika Mustermann").hexdigest()
    assert is_of(found, "Erika Mustermann")
    assert not is_of(found, "Erika Musterfrau")


def test_equal_words_look_different() -> None:
    assert concealed("x") != concealed("x")


def test_one_word_in_two_spellings_of_unicode_is_one_word() -> None:
    assert is_of(concealed("Zoë"), "Zoe\u0308")
