"""What the offline verifier says about registrations and links, from their events alone."""

from __future__ import annotations

from typing import Any

import pytest

from client.audit.rules import Judge, Seen
from client.audit.rules.base import Excuses


def judged(*events: tuple[str, str, dict[str, Any]], withheld: int = -1) -> list[str]:
    judge, excuses = Judge(), Excuses()
    said = []
    for position, (kind, subject, data) in enumerate(events):
        said += judge.see(Seen(position, kind, subject, "ok", data, withheld, excuses))
    return said


ORGANISATION = ("organisation.created", "o", {"lineage": "b"})
FILED = ("registration.filed", "r", {"organisation": "o", "filed_by": "v", "evidence": 1, "due": "x"})
PROPOSED = ("registration.proposed", "r", {"verdict": "verify", "proposed_by": "p"})
DECIDED = ("registration.decided", "r", {"verdict": "verify", "decided_by": "q"})
VERIFIED = ("organisation.verified", "o", {"registration": "r"})
OPENED = ("link.opened", "c", {"first": "a", "second": "b", "signals": ["package"]})
LINK = ("link.proposed", "c", {"verdict": "link", "proposed_by": "p"})
LINKED = ("link.decided", "c", {"verdict": "link", "decided_by": "q", "absorbed": "b", "into": "a"})
MOVED = ("organisation.lineage_changed", "o", {"before": "b", "lineage": "a", "case": "c"})

PARTING = ("link.parting_proposed", "c", {"proposed_by": "p"})
PARTED = ("link.parted", "c", {"decided_by": "q"})
BACK = ("organisation.lineage_changed", "o", {"before": "a", "lineage": "b", "case": "c"})
JOINED: list[tuple[str, str, dict[str, Any]]] = [ORGANISATION, OPENED, LINK, LINKED, MOVED]


def but(event: tuple[str, str, dict[str, Any]], **changes: Any) -> tuple[str, str, dict[str, Any]]:
    return (event[0], event[1], event[2] | changes)


def test_what_happened_as_it_should_is_silent() -> None:
    confirmed = ("registration.domain_confirmed", "r", {"method": "dns"})
    read: tuple[str, str, dict[str, Any]] = ("registration.read", "r", {})
    assert judged(ORGANISATION, FILED, read, confirmed, PROPOSED, DECIDED, VERIFIED) == []
    returned = ("registration.returned", "r", {"returned_by": "q"})
    assert (
        judged(
            ORGANISATION,
            FILED,
            PROPOSED,
            returned,
            but(PROPOSED, proposed_by="q"),
            but(DECIDED, decided_by="p"),
        )
        == []
    )
    assert judged(ORGANISATION, ("organisation.verified", "o", {})) == []
    assert judged(ORGANISATION, OPENED, ("link.extended", "c", {}), LINK, LINKED, MOVED) == []
    kept = ("link.parting_returned", "c", {"returned_by": "q"})
    assert judged(*JOINED, PARTING, kept, PARTING, PARTED, BACK) == []
    assert (
        judged(
            OPENED, LINK, ("link.returned", "c", {}), but(LINK, verdict="clear"), but(LINKED, verdict="clear")
        )
        == []
    )


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([ORGANISATION, FILED, FILED], "filed a second time"),
        ([ORGANISATION, PROPOSED], "no earlier entry files"),
        ([ORGANISATION, ("evidence.read", "r", {})], "no earlier entry files"),
        ([ORGANISATION, FILED, DECIDED], "which is filed"),
        ([ORGANISATION, FILED, PROPOSED, PROPOSED], "which is proposed"),
        ([ORGANISATION, FILED, PROPOSED, but(DECIDED, decided_by="p")], "one person alone"),
        ([ORGANISATION, FILED, PROPOSED, but(DECIDED, verdict="refuse")], "otherwise than was proposed"),
        ([ORGANISATION, FILED, PROPOSED, VERIFIED], "two did not decide"),
        (
            [ORGANISATION, FILED, but(PROPOSED, verdict="more"), but(DECIDED, verdict="more"), VERIFIED],
            "two did not",
        ),
        ([ORGANISATION, VERIFIED], "two did not decide"),
        ([OPENED, OPENED], "opened a second time"),
        ([but(OPENED, first="b", second="a")], "in their order"),
        ([LINK], "no earlier entry opens"),
        ([OPENED, LINKED], "which is open"),
        ([OPENED, LINK, but(LINKED, decided_by="p")], "one person alone"),
        ([OPENED, LINK, but(LINKED, verdict="clear")], "otherwise than was proposed"),
        ([ORGANISATION, OPENED, LINK, MOVED], "was not decided so"),
        ([ORGANISATION, OPENED, LINK, LINKED, but(MOVED, lineage="z")], "was not decided so"),
        ([*JOINED, PARTED], "which is decided"),
        ([*JOINED, PARTING, but(PARTED, decided_by="p")], "one person alone"),
        ([*JOINED, PARTING, BACK], "was not decided so"),
        ([*JOINED, PARTING, PARTED, MOVED], "was not decided so"),
        (
            [OPENED, but(LINK, verdict="clear"), but(LINKED, verdict="clear"), PARTING],
            "was not linked",
        ),
    ],
)
def test_each_deviation_is_found(events: list[tuple[str, str, dict[str, Any]]], words: str) -> None:
    said = judged(*events)
    assert len(said) == 1
    assert words in said[0]


def test_what_may_be_withheld_is_no_finding() -> None:
    assert judged(PROPOSED, withheld=0) == []
    assert judged(ORGANISATION, VERIFIED, withheld=0) == []
