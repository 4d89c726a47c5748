"""Each kind of event says what happened in a sentence, and names no fact that the kind does not have."""

from __future__ import annotations

from string import Formatter
from typing import ClassVar

import pytest
from django.utils import translation

from audit import wording
from audit.events import Event

ALWAYS = {"actor", "subject", "kind", "outcome"}
OURS = {kind: declared for kind, declared in Event.registry.items() if not kind.startswith("test.")}


@pytest.mark.parametrize("kind", sorted(OURS))
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_each_kind_has_a_sentence_of_its_own_facts(kind: str, language: str) -> None:
    declared = OURS[kind]
    with translation.override(language):
        sentence = str(declared.sentence)
    assert sentence, "declare `sentence` beside `kind`"
    named = {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}
    assert named, "a sentence says about what it is"
    assert named <= {*ALWAYS, *declared.model_fields} - {"subject_type"}


def test_names_of_organisations_stand_in_it_and_persons_do_not() -> None:
    organisation = "01900000-0000-7000-8000-000000000001"
    person = "0f0e0d0c-0b0a-4908-8706-050403020100"
    body = {
        "kind": "organisation.verified",
        "actor": {"kind": "person", "id": person, "organisation": organisation},
        "subject": {"type": "organisation", "id": organisation},
        "data": {},
    }
    with translation.override("en"):
        assert (
            wording.sentence(body, {organisation: "Acme"})
            == "Person …03020100 of Acme verified the organisation Acme."
        )


def test_a_kind_that_nobody_declared_and_missing_facts_are_said_all_the_same() -> None:
    class Plain(Event):
        kind: ClassVar[str] = "test.wording"
        subject_type: ClassVar[str] = "test"
        sentence = "{actor} saw {nothing_of_the_sort} {odd[0]}"

    with translation.override("en"):
        assert wording.sentence({"kind": "never.heard", "subject": {"id": "x"}, "actor": "broken"}) == (
            " recorded never.heard about x."
        )
        said = wording.sentence(
            {"kind": "test.wording", "actor": {"kind": "system", "id": "clock"}, "data": 7}
        )
    assert said == "The platform (clock) saw – –"
    Event.registry.pop("test.wording")
