"""Trusted publishers: jobs get credentials while their publisher is there, and each is bound to one submission."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen


class Publishers(Rule):
    """Registered once and removed once; nobody gets credentials before or after."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"publisher.registered", "publisher.removed", "ci.exchanged", "ci.bound"}
    )

    def __init__(self) -> None:
        self._harness: dict[str, str] = {}
        self._removed: set[str] = set()
        self._exchanged: set[str] = set()
        self._bound: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "publisher.registered":
            known = event.subject in self._harness
            self._harness[event.subject] = event.data["harness"]
            return f"the publisher {event.subject} is registered a second time" if known else None
        if event.kind == "publisher.removed":
            again = event.subject in self._removed
            self._removed.add(event.subject)
            return (
                f"the publisher {event.subject} is removed a second time"
                if again
                else self._unknown(event, event.subject)
            )
        return self._exchange(event) if event.kind == "ci.exchanged" else self._bind(event)

    def _exchange(self, event: Seen) -> str | None:
        publisher = event.data["publisher"]
        again = event.subject in self._exchanged
        self._exchanged.add(event.subject)
        if again:
            return f"the credentials {event.subject} are given a second time"
        if publisher in self._removed:
            return f"a job of the publisher {publisher} gets credentials, which was removed before"
        if publisher in self._harness and self._harness[publisher] != event.data["harness"]:
            return f"a job of the publisher {publisher} gets credentials for another harness"
        return self._unknown(event, publisher)

    def _bind(self, event: Seen) -> str | None:
        again = event.subject in self._bound
        self._bound.add(event.subject)
        if again:
            return f"the credentials {event.subject} are bound a second time"
        if event.subject not in self._exchanged and not event.excused():
            return f"the credentials {event.subject} are bound, which no earlier entry gives"
        return None

    def _unknown(self, event: Seen, publisher: str) -> str | None:
        if publisher in self._harness or event.excused():
            return None
        return f"{event.kind} names the publisher {publisher}, which no earlier entry registers"


class Issuers(Rule):
    """Two people stand behind the keys of an issuer that the site cannot reach."""

    kinds: ClassVar[frozenset[str]] = frozenset({"issuer.proposed", "issuer.approved", "issuer.ended"})

    def __init__(self) -> None:
        self._proposed_by: dict[str, str] = {}
        self._approved: set[str] = set()
        self._ended: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "issuer.proposed":
            known = event.subject in self._proposed_by
            self._proposed_by[event.subject] = event.data["proposed_by"]
            return f"the issuer {event.subject} is proposed a second time" if known else None
        if event.subject in self._ended:
            return f"{event.kind} happens to the issuer {event.subject}, which was ended before"
        if event.kind == "issuer.ended":
            self._ended.add(event.subject)
        elif event.subject in self._approved:
            return f"the issuer {event.subject} is approved a second time"
        elif self._proposed_by.get(event.subject) == event.data["approved_by"]:
            return f"the issuer {event.subject} is proposed and approved by one person alone"
        else:
            self._approved.add(event.subject)
        if event.subject not in self._proposed_by and not event.excused():
            return f"{event.kind} names the issuer {event.subject}, which no earlier entry proposes"
        return None
