"""HarnessCards: the published schema, its errors, and the digest."""

from __future__ import annotations

import json

import pytest

from submissions import cards
from tests.submissions.bundles import card


def errors(value: object) -> dict[str, str]:
    with pytest.raises(cards.CardInvalid) as caught:
        cards.check(value)
    return dict(caught.value.errors)


def test_the_seven_layers_are_data() -> None:
    assert cards.layers() == [
        "execution",
        "tools",
        "context_construction",
        "scheduling",
        "observability",
        "verification",
        "governance",
    ]


def test_titles_stand_in_two_languages() -> None:
    layers = cards.schema("harness-card", 1)["properties"]["layers"]["properties"]
    for name in cards.layers():
        assert layers[name]["title"]
        assert layers[name]["x-zh"]["title"]
        assert layers[name]["x-zh"]["description"]


def test_errors_name_the_place() -> None:
    wrong = card()
    del wrong["layers"]["tools"]["summary"]
    wrong["layers"]["scheduling"]["maximum_steps"] = -1
    wrong["layers"]["governance"]["colour"] = "red"
    wrong["models"] = [{"role": "main"}]
    assert errors(wrong) == {
        "$.layers.governance": "has unknown keys: colour",
        "$.layers.scheduling.maximum_steps": "is less than 0",
        "$.layers.tools": "lacks summary",
        "$.models[0]": "lacks name",
    }


def test_a_layer_that_is_missing_is_named() -> None:
    wrong = card()
    del wrong["layers"]["observability"]
    assert errors(wrong) == {"$.layers": "lacks observability"}


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_that_cannot_be_stored_is_refused(text: str) -> None:
    wrong = card(notes=text)
    assert errors(wrong) == {"$.notes": "holds a character that cannot be stored"}


@pytest.mark.case("E45")
def test_the_digest_is_of_the_content_not_of_the_spelling() -> None:
    one = card(inference={"temperature": 1.0, "top_p": 0.5}, notes="cafe\u0301")
    other = json.loads(json.dumps(card(notes="caf\u00e9", inference={"top_p": 0.5, "temperature": 1})))
    assert cards.digest(cards.check(one)) == cards.digest(cards.check(other))
    assert cards.digest(cards.check(card())) != cards.digest(cards.check(card(notes="x")))
