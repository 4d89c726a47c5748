"""HarnessCards by the form of the schema and as a document: the same card, and errors by JSON path."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import translation

from submissions import cards
from submissions.cardform import CardForm, flatten, leaves
from submissions.models import Harness, HarnessVersion
from submissions.views.registry import read_card
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.bundles import card

FULL = card(
    models=[{"role": "main", "name": "glm-5", "snapshot": "2026-10"}],
    inference={"temperature": 0.2, "maximum_output_tokens": 4096},
    tuning={"summary": "By hand.", "public_group_used": True, "sources": ["own notes", "dev split"]},
    notes="None.",
)
FULL["layers"]["tools"]["tools"] = [{"name": "read", "purpose": "reads | writes files"}]


def posted(value: dict[str, Any]) -> dict[str, Any]:
    """The card as a browser would send it from the filled form."""
    return {key: str(found) for key, found in flatten(value, cards.schema("harness-card", 1))}


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 50_000,
        "- " * 50_000,
        "? " * 50_000,
        "\n".join(" " * n + "a:" for n in range(3000)),
    ],
)
def test_a_bottomless_document_is_refused_at_once(text: str) -> None:
    started = time.monotonic()
    found, complaint = read_card(text)
    assert found is None
    assert complaint
    assert time.monotonic() - started < 5


def test_the_form_gives_back_the_card_that_filled_it() -> None:
    form = CardForm(posted(FULL))
    assert form.is_valid(), form.errors
    assert cards.digest(cards.check(form.card)) == cards.digest(cards.check(FULL))


def test_every_field_of_the_schema_is_in_one_section() -> None:
    form = CardForm()
    shown = [field.name for _section, fields in form.grouped() for field in fields]
    assert sorted(shown) == sorted(name for name, _node, _required in leaves(form.schema))
    assert len(shown) == len(set(shown))


@pytest.mark.parametrize(("language", "title"), [("en", "Context construction"), ("zh-hans", "上下文构建层")])
def test_sections_are_titled_in_the_readers_language(language: str, title: str) -> None:
    with translation.override(language):
        assert title in [section.title for section, _fields in CardForm().grouped()]


def test_what_is_required_is_asked_for() -> None:
    form = CardForm({})
    assert not form.is_valid()
    assert "layers.governance.summary" in form.errors
    assert "tuning.public_group_used" in form.errors
    assert "notes" not in form.errors


def test_errors_of_the_schema_stand_at_their_field() -> None:
    form = CardForm(posted(FULL) | {"models": "NOT A ROLE | x"})
    assert form.is_valid()
    with pytest.raises(cards.CardInvalid) as caught:
        cards.check(form.card)
    form.blame(caught.value.errors)
    assert "$.models[0].role" in str(form.errors["models"])


@pytest.mark.parametrize("text", ["{", "a: [", "&a [*a]", "- *x", "\t- {", "%"])
def test_what_is_no_document_is_named(text: str) -> None:
    _found, complaint = read_card(text)
    assert complaint


def test_json_and_yaml_are_the_same_card() -> None:
    assert read_card(json.dumps(FULL)) == read_card(yaml.safe_dump(FULL)) == (FULL, "")


@pytest.fixture
def client(vendor: world.Vendor) -> Client:
    return signed_in(vendor.user)


@pytest.fixture
def harness(vendor: world.Vendor) -> Harness:
    return vendor.harness()


@pytest.mark.django_db
def test_both_ways_store_the_same_card(client: Client, harness: Harness) -> None:
    path = address("submissions:new_version", harness.id)
    assert client.post(path, {"version": "1.0", **posted(FULL)}).status_code == 302
    assert (
        client.post(f"{path}?by=document", {"version": "1.1", "text": yaml.safe_dump(FULL)}).status_code
        == 302
    )
    file = SimpleUploadedFile("card.json", json.dumps(FULL).encode())
    assert client.post(f"{path}?by=document", {"version": "1.2", "file": file}).status_code == 302
    assert HarnessVersion.objects.values_list("card_digest", flat=True).distinct().count() == 1
    page = client.get(address("submissions:version", HarnessVersion.objects.get(version="1.0").id))
    assert "reads | writes files" in page.content.decode()
    assert "own notes<br>dev split" in page.content.decode()


@pytest.mark.django_db
def test_the_next_version_starts_from_the_last_card(client: Client, harness: Harness) -> None:
    path = address("submissions:new_version", harness.id)
    client.post(path, {"version": "1.0", **posted(FULL)})
    page = client.get(path).content.decode()
    assert "Filled with the card of version 1.0." in page
    assert "By hand." in page


BAD_DOCUMENTS = [
    ({"text": json.dumps(card(surprise=1))}, "has unknown keys: surprise"),
    ({"text": json.dumps({"schema": "harness-card/1"})}, "$"),
    ({"text": "[]"}, "is not an object"),
    ({"text": "{"}, "neither JSON nor YAML"),
    ({"text": ""}, "Paste the card or choose a file."),
    ({"file": SimpleUploadedFile("card.json", b"\xff\xfe")}, "not UTF-8"),
    ({"text": json.dumps(card(notes="a\x00b"))}, "character that cannot be stored"),
]


@pytest.mark.django_db
@pytest.mark.acceptance("main-job:8")
@pytest.mark.parametrize(("fields", "words"), BAD_DOCUMENTS)
def test_a_bad_document_is_refused_and_named(
    client: Client, harness: Harness, fields: dict[str, Any], words: str
) -> None:
    for value in fields.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    path = address("submissions:new_version", harness.id)
    answer = client.post(f"{path}?by=document", {"version": "1.0", **fields})
    assert answer.status_code in (400, 422)
    assert words in answer.content.decode()
    assert not HarnessVersion.objects.exists()


@pytest.mark.django_db
@pytest.mark.acceptance("main-job:8")
@pytest.mark.parametrize("version", ["", "a b", "../x", "x" * 65, "1.0\n", "\x00"])
def test_a_bad_version_string_is_said_at_its_field(client: Client, harness: Harness, version: str) -> None:
    path = address("submissions:new_version", harness.id)
    answer = client.post(path, {"version": version, **posted(FULL)})
    assert HarnessVersion.objects.exists() is (version.strip() == "1.0")
    if not HarnessVersion.objects.exists():
        assert answer.status_code == 422
        assert "invalid-feedback" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.acceptance("main-job:8")
@pytest.mark.parametrize("name", ["", "Upper", "with space", "../x", "x" * 64, "\x00", "-a"])
def test_a_bad_harness_name_is_said_at_its_field(client: Client, name: str) -> None:
    answer = client.post("/en/v/harnesses/new/", {"name": name, "title": "", "relation": "owner"})
    assert answer.status_code == 422
    assert "invalid-feedback" in answer.content.decode()
    assert not Harness.objects.exists()


@pytest.mark.django_db
def test_a_name_that_is_taken_is_refused(client: Client, harness: Harness) -> None:
    answer = client.post("/en/v/harnesses/new/", {"name": harness.name, "title": "", "relation": "owner"})
    assert answer.status_code == 409
    assert "name_taken" in answer.content.decode()
