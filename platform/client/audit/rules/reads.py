"""Reads: what they are about has begun; a count of reads without news follows the read that it counts on."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen, known_without_rule

SUBJECTS = {
    "submission.admitted": "submission",
    "preflight.admitted": "submission",
    "harness.version_registered": "harness_version",
}
READS = {
    "card.read": "harness_version",
    "preflight.read": "submission",
    "receipt.read": "submission",
    "submission.status_read": "submission",
}
POLLED = {
    "submission.status_polled": "submission.status_read",
    "organisation.status_polled": "organisation.status_read",
    "console.status_polled": "console.status_read",
}

known_without_rule("entry.read", "read.refused", "read.refusals_counted")


class Reads(Rule):
    """Only what exists is read, and nothing is counted as unchanged that was never read."""

    kinds: ClassVar[frozenset[str]] = (
        frozenset(SUBJECTS) | frozenset(READS) | frozenset(POLLED) | frozenset(POLLED.values())
    )

    def __init__(self) -> None:
        self._begun: set[tuple[str, str]] = set()
        self._read: set[tuple[str, str, str]] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind in SUBJECTS:
            self._begun.add((SUBJECTS[event.kind], event.subject))
            return None
        thing = READS.get(event.kind)
        if thing and (thing, event.subject) not in self._begun and not event.excused():
            return f"{event.kind} is about {event.subject}, which no earlier entry begins"
        if event.kind in POLLED.values():
            self._read.add((event.kind, event.subject, event.data["surface"]))
        if first := POLLED.get(event.kind):
            seen = (first, event.subject, event.data["surface"])
            if event.data["count"] < 1 or (seen not in self._read and not event.excused()):
                return f"{event.kind} counts reads of {event.subject}, which was not read before"
        return None
