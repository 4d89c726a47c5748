"""Strict reading of harness.toml."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from submissions import cards
from submissions.intake import Finding, Manifest, read_manifest
from tests.submissions.bundles import manifest

MODEL = '[[models]]\nrole = "main"\ndialect = "openai-chat"\nupstream = "x"\n'


def read(data: bytes) -> Manifest:
    return read_manifest(data, name="probe", version="1.0")


def test_a_good_manifest() -> None:
    found = read(manifest(extra="[limits]\nseconds = 600\n"))
    assert found == Manifest("probe", "1.0", ("python3", "/harness/run.py"), 600)
    assert found.stored()["limit_seconds"] == 600


def test_models_are_read_in_their_order() -> None:
    found = read(manifest(extra=MODEL + MODEL.replace("main", "small")))
    assert [(use.role, use.dialect, use.upstream) for use in found.models] == [
        ("main", "openai-chat", "x"),
        ("small", "openai-chat", "x"),
    ]
    assert found.stored()["models"][0] == {"role": "main", "dialect": "openai-chat", "upstream": "x"}


@pytest.mark.parametrize(
    ("data", "code", "fact"),
    [
        (b"\xff\xfe", "manifest_not_toml", "byte 0 is not UTF-8"),
        (b"schema = ", "manifest_not_toml", "end of document"),
        (b"a = " + b"[" * 3000, "manifest_not_toml", None),
        (manifest(extra='colour = "red"\n'), "manifest_unknown_key", "colour"),
        (manifest(extra="[limits]\nminutes = 1\n"), "manifest_unknown_key", "limits.minutes"),
        (manifest(extra=MODEL + 'colour = "red"\n'), "manifest_unknown_key", "models[0].colour"),
        (b'schema = "harness/1"\nname = "probe"\nversion = "1.0"\n', "manifest_key_missing", "command"),
        (manifest().replace(b"harness/1", b"harness/2"), "manifest_value_invalid", "schema"),
        (manifest("another"), "manifest_name_differs", "another"),
        (manifest(version="1.1"), "manifest_version_differs", "1.1"),
        (manifest(extra="[limits]\nseconds = 0\n"), "manifest_value_invalid", "limits.seconds"),
        (manifest(extra="[limits]\nseconds = true\n"), "manifest_value_invalid", "limits.seconds"),
        (manifest(extra="limits = 3\n"), "manifest_value_invalid", "limits"),
        (manifest(extra='kind = "image"\n'), "manifest_value_invalid", "kind"),
        (
            manifest(extra=MODEL.replace("openai-chat", "telepathy")),
            "manifest_value_invalid",
            "models[0].dialect",
        ),
        (manifest(extra=MODEL.replace('"x"', '"X y"')), "manifest_value_invalid", "models[0].upstream"),
        (manifest(extra=MODEL.replace("main", "Main")), "manifest_value_invalid", "models[0].role"),
        (manifest(extra=MODEL + MODEL), "manifest_value_invalid", "models[1].role"),
        (manifest(extra="models = 3\n"), "manifest_value_invalid", "models"),
        (manifest(extra=MODEL.replace('upstream = "x"\n', "")), "manifest_key_missing", "models[0].upstream"),
        (
            manifest().replace(b'["python3", "/harness/run.py"]', b'"run"'),
            "manifest_value_invalid",
            "command",
        ),
        (manifest().replace(b'"python3", "/harness/run.py"', b""), "manifest_value_invalid", "command"),
        (manifest().replace(b'"python3"', b'"a\\u0000b"'), "manifest_value_invalid", "command[0]"),
        (manifest().replace(b'"python3"', b"7"), "manifest_value_invalid", "command[0]"),
    ],
)
def test_the_first_offence_is_named(data: bytes, code: str, fact: str | None) -> None:
    with pytest.raises(Finding) as caught:
        read(data)
    assert caught.value.code == code
    if fact:
        assert fact in caught.value.facts.values()


def test_the_published_schema_agrees_with_the_reader() -> None:
    validator = Draft202012Validator(cards.schema("harness-toml", 1))
    assert validator.is_valid(tomllib.loads(manifest(extra="[limits]\nseconds = 600\n").decode()))
    assert validator.is_valid(tomllib.loads(manifest(extra=MODEL).decode()))
    for extra in ('colour = "red"\n', "[limits]\nseconds = 0\n", MODEL.replace("openai-chat", "telepathy")):
        assert not validator.is_valid(tomllib.loads(manifest(extra=extra).decode()))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.binary(max_size=200))
def test_noise_is_refused(data: bytes) -> None:
    with pytest.raises(Finding):
        read(data)


@given(VALUES)
def test_any_value_as_a_card_is_refused_with_paths(value: Any) -> None:
    with pytest.raises(cards.CardInvalid) as caught:
        cards.check(value)
    assert all(path.startswith("$") and message for path, message in caught.value.errors)
