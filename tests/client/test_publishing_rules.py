"""What the verifier says about trusted publishers from the events alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client import synthetic
from tests.client.test_rules import judged

AT = "2026-12-01T00:00:00.000000Z"


class Story:
    """Events of one publisher, its job and one issuer; each is written where a test says so."""

    def __init__(self) -> None:
        self.write = synthetic.Scribe(11)
        self.entries: list[bytes] = []
        self.publisher, self.harness, self.grant, self.issuer = (self.write.id() for _ in range(4))
        self.one, self.two = self.write.id(), self.write.id()

    def add(self, kind: str, type_: str, subject: str, **facts: Any) -> None:
        self.entries.append(self.write.event(kind, type_, subject, **facts))

    def registered(self) -> None:
        facts = {"organisation": self.one, "registered_by": self.one, "terms": "t"}
        self.add("publisher.registered", "publisher", self.publisher, harness=self.harness, **facts)

    def removed(self) -> None:
        self.add("publisher.removed", "publisher", self.publisher, ended_by=self.one, at=AT)

    def exchanged(self, harness: str = "") -> None:
        facts = {"publisher": self.publisher, "act_expires": AT, "watch_expires": AT}
        self.add("ci.exchanged", "ci_grant", self.grant, harness=harness or self.harness, **facts)

    def bound(self) -> None:
        self.add("ci.bound", "ci_grant", self.grant, submission=self.write.id())

    def proposed(self) -> None:
        facts = {"organisation": self.one, "at": AT, "address": "a", "keys": "k", "reason": "r"}
        self.add("issuer.proposed", "issuer", self.issuer, proposed_by=self.one, **facts)

    def approved(self, by: str = "") -> None:
        self.add("issuer.approved", "issuer", self.issuer, approved_by=by or self.two, at=AT, ends=AT)

    def ended(self) -> None:
        self.add("issuer.ended", "issuer", self.issuer, ended_by=self.one, at=AT)

    def said(self) -> list[str]:
        return [wrong for _, wrong in judged(self.entries)]


def test_a_proper_history_is_in_order() -> None:
    story = Story()
    for step in ("registered", "exchanged", "bound", "removed", "proposed", "approved", "ended"):
        getattr(story, step)()
    assert story.said() == []


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        (("registered", "registered"), "registered a second time"),
        (("registered", "removed", "removed"), "removed a second time"),
        (("removed",), "no earlier entry registers"),
        (("exchanged",), "no earlier entry registers"),
        (("registered", "removed", "exchanged"), "which was removed before"),
        (("registered", "exchanged", "exchanged"), "given a second time"),
        (("registered", "bound"), "no earlier entry gives"),
        (("registered", "exchanged", "bound", "bound"), "bound a second time"),
        (("proposed", "proposed"), "proposed a second time"),
        (("approved",), "no earlier entry proposes"),
        (("proposed", "approved", "approved"), "approved a second time"),
        (("proposed", "ended", "approved"), "which was ended before"),
    ],
)
def test_each_step_out_of_order_is_named(steps: tuple[str, ...], wrong: str) -> None:
    story = Story()
    for step in steps:
        getattr(story, step)()
    (found,) = story.said()
    assert wrong in found


def test_credentials_for_another_harness_and_one_person_alone_are_named() -> None:
    story = Story()
    story.registered()
    story.exchanged(story.write.id())
    story.proposed()
    story.approved(story.one)
    harness, alone = story.said()
    assert "for another harness" in harness
    assert "one person alone" in alone
