"""What the verifier says about duties from the events alone, and where it stays silent."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from accounts.duties import table
from client.audit.rules import duties
from tests.client import synthetic
from tests.client.test_rules import judged

DAYS = [f"2026-12-{day:02}T00:00:00.000000Z" for day in range(1, 31)]


def test_the_pairs_are_the_platforms() -> None:
    pairs = {frozenset(duty.value for duty in pair) for pair in table.CONFLICTS}
    assert pairs == duties.CONFLICTS
    assert {duty.value for duty in table.KEPT_APART} == duties.KEPT_APART


class Office:
    """Writes what two administrators do; each entry is later than the one before by nothing but its place."""

    def __init__(self) -> None:
        self.write = synthetic.Scribe(7)
        self.entries: list[bytes] = []
        self.one, self.two, self.person = (self.write.id() for _ in range(3))

    def add(self, kind: str, type_: str, subject: str, **facts: Any) -> str:
        self.entries.append(self.write.event(kind, type_, subject, **facts))
        return subject

    def propose(self, account: str, duty: str, first: int = 1, last: int = 20, by: str = "") -> str:
        facts = {"begins": DAYS[first], "ends": DAYS[last], "proposed_by": by or self.one, "at": DAYS[1]}
        return self.add(
            "duty.proposed", "duty", self.write.id(), account=account, duty=duty, reason="r", **facts
        )

    def confirm(self, duty: str, by: str = "", day: int = 1) -> str:
        facts = {"at": DAYS[day], "review_due": DAYS[20], "reason": "r"}
        return self.add("duty.confirmed", "duty", duty, confirmed_by=by or self.two, **facts)

    def give(self, account: str, duty: str, first: int = 1, last: int = 20) -> str:
        return self.confirm(self.propose(account, duty, first, last))

    def end(self, duty: str, day: int = 2, by: str = "") -> str:
        return self.add("duty.ended", "duty", duty, ended_by=by or self.one, at=DAYS[day], reason="r")

    def begin(self) -> Office:
        self.add("duties.begun", "duty_ceremony", "1", first=self.one, second=self.two)
        self.confirm(self.propose(self.one, "administrator", by=self.one), by=self.two)
        self.confirm(self.propose(self.two, "administrator", by=self.two), by=self.one)
        return self

    def said(self, **more: Any) -> list[str]:
        return [wrong for _, wrong in judged(self.entries, **more)]


@pytest.fixture
def office() -> Office:
    return Office().begin()


def test_a_history_without_fault(office: Office) -> None:
    row = office.give(office.person, "task_author", 1, 10)
    office.give(office.person, "arbiter", 10, 12)
    office.give(office.person, "identity_reviewer", 1, 4)
    review = {"reviewed_by": office.two, "at": DAYS[3], "review_due": DAYS[9], "reason": "r"}
    office.add("duty.reviewed", "duty", row, **review)
    office.end(row, 4)
    office.give(office.person, "held_out_governor", 4, 10)
    auditing = office.add("organisation.created", "organisation", office.write.id(), lineage="l")
    office.add("organisation.member_added", "organisation", auditing, account="x", role="owner")
    office.add("organisation.marked_as_auditing", "organisation", auditing)
    office.end(office.propose("x", "scoring_maintainer"))
    assert office.said() == []


WRONG: dict[str, tuple[Any, str]] = {
    "one person": (lambda o: o.confirm(o.propose(o.person, "arbiter"), by=o.one), "one person alone"),
    "by the holder": (
        lambda o: o.confirm(o.give("c", "administrator") and o.propose("c", "identity_reviewer"), by="c"),
        "by who holds it",
    ),
    "a conflict": (
        lambda o: (o.give(o.person, "task_author", 1, 10), o.give(o.person, "held_out_governor", 9, 12)),
        "holds the duties task_author and held_out_governor at one time",
    ),
    "twice the same": (
        lambda o: (o.give(o.person, "arbiter", 1, 10), o.give(o.person, "arbiter", 5, 12)),
        "holds the duties arbiter and arbiter",
    ),
    "ended too late": (
        lambda o: (o.end(o.give(o.person, "arbiter", 1, 10), 5), o.give(o.person, "task_author", 4, 8)),
        "at one time",
    ),
    "an auditor": (
        lambda o: (_auditor(o), o.give(o.person, "task_author")),
        "duties auditor and task_author",
    ),
    "a holder audits": (lambda o: (o.give(o.person, "arbiter"), _auditor(o)), "duties arbiter and auditor"),
    "a stranger confirms": (
        lambda o: o.confirm(o.propose(o.person, "arbiter"), by="stranger"),
        "stranger, who is no administrator",
    ),
    "an administrator whose time is over": (
        lambda o: (
            o.give("c", "administrator", 1, 3),
            o.confirm(o.propose(o.person, "arbiter"), by="c", day=3),
        ),
        "c, who is no administrator",
    ),
    "never proposed": (lambda o: o.confirm("nothing"), "which no earlier entry proposes"),
    "after its end": (lambda o: o.confirm(o.end(o.propose(o.person, "arbiter"))), "which was ended before"),
    "twice confirmed": (lambda o: o.confirm(o.give(o.person, "arbiter")), "a second time"),
    "a second ceremony": (
        lambda o: o.add("duties.begun", "duty_ceremony", "2", first="c", second="d"),
        "named a second time",
    ),
    "a member of a vendor": (
        lambda o: (_member(o), o.give(o.person, "arbiter")),
        "is a member of",
    ),
    "a review of one's own": (
        lambda o: o.add(
            "duty.reviewed",
            "duty",
            o.give("c", "administrator"),
            reviewed_by="c",
            at=DAYS[2],
            review_due="",
            reason="",
        ),
        "is reviewed by who holds it",
    ),
}


def _auditor(office: Office) -> str:
    place = office.add("organisation.created", "organisation", office.write.id(), lineage="l")
    office.add("organisation.marked_as_auditing", "organisation", place)
    facts = {"begins": DAYS[1], "ends": DAYS[9], "scope": "s", "declaration": "d"}
    return office.add(
        "auditor.appointed",
        "auditor_term",
        office.write.id(),
        account=office.person,
        organisation=place,
        **facts,
    )


def _member(office: Office) -> str:
    place = office.add("organisation.created", "organisation", office.write.id(), lineage="l")
    return office.add("organisation.member_added", "organisation", place, account=office.person, role="owner")


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_at_its_entry(office: Office, name: str) -> None:
    make, words = WRONG[name]
    make(office)
    found = judged(office.entries)
    assert any(words in wrong for _, wrong in found), found
    assert {position for position, _ in found} == {len(office.entries) - 1}


def test_the_two_of_the_ceremony_name_nobody_else_by_it() -> None:
    office = Office()
    office.add("duties.begun", "duty_ceremony", "1", first=office.one, second=office.two)
    office.confirm(office.propose("c", "administrator"), by=office.two)
    assert len(office.said()) == 2


def test_no_false_alarm_whatever_is_withheld(office: Office) -> None:
    test_a_history_without_fault(office)
    chosen = random.Random(3)
    for _ in range(300):
        density = chosen.choice([0.05, 0.3, 0.8])
        withheld = {place for place in range(len(office.entries)) if chosen.random() < density}
        assert office.said(withheld=withheld) == []


def _slices(entries: list[bytes]) -> Iterator[set[int]]:
    for first in range(len(entries)):
        yield set(range(first))


def test_no_false_alarm_on_the_end_of_a_log(office: Office) -> None:
    test_a_history_without_fault(office)
    for withheld in _slices(office.entries):
        assert office.said(withheld=withheld) == []
