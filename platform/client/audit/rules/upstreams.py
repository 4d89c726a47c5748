"""Model upstreams: registered once, and nothing happens to one after it was retired but the end of a trial call."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen


class Upstreams(Rule):
    """Each begins before anything happens to it, trials are asked for before they end, and retiring is the end."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        f"upstream.{name}"
        for name in (
            "registered",
            "changed",
            "credential_set",
            "trial_asked",
            "tried",
            "retired",
            "stopped",
            "resumed",
        )
    )

    def __init__(self) -> None:
        self._registered: set[str] = set()
        self._retired: set[str] = set()
        self._under_way: set[str] = set()
        self._stops: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "upstream.registered":
            again = event.subject in self._registered
            self._registered.add(event.subject)
            return f"the upstream {event.subject} is registered a second time" if again else None
        if event.subject not in self._registered and not event.excused():
            return f"{event.kind} names the upstream {event.subject}, which no earlier entry registers"
        if event.kind == "upstream.tried":
            asked = event.data["trial"] in self._under_way
            self._under_way.discard(event.data["trial"])
            return (
                None if asked or event.excused() else f"a trial of {event.subject} ends that nobody asked for"
            )
        if event.kind in ("upstream.stopped", "upstream.resumed"):
            return self._stopped(event)
        if event.subject in self._retired:
            return f"{event.kind} happens to the upstream {event.subject}, which was retired before"
        if event.kind == "upstream.trial_asked":
            self._under_way.add(event.data["trial"])
        if event.kind == "upstream.retired":
            self._retired.add(event.subject)
        return None

    def _stopped(self, event: Seen) -> str | None:
        """Each stop begins once and ends once; that of a retired upstream may still end."""
        name, begins = event.data["stop"], event.kind == "upstream.stopped"
        known = name in self._stops
        (self._stops.add if begins else self._stops.discard)(name)
        if known is not begins or event.excused():
            return None
        return (
            f"a stop of the upstream {event.subject} {'begins twice' if begins else 'ends that never began'}"
        )
