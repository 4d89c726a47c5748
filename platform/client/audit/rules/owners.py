"""Owners of harnesses: told once after staff had it ordered, with fourteen days, and objecting only after that.

A mail that was given up may be ordered anew.
"""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen, known_without_rule

known_without_rule("harness.owner_named")


class Notices(Rule):
    """Ordered, then sent or given up, each once; an objection follows a notice that was sent."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"owner_notice.ordered", "owner_notice.given_up", "owner_notice.sent", "owner_notice.objected"}
    )
    BEFORE: ClassVar[dict[str, str]] = {
        "owner_notice.sent": "owner_notice.ordered",
        "owner_notice.given_up": "owner_notice.ordered",
        "owner_notice.objected": "owner_notice.sent",
    }

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def see(self, event: Seen) -> str | None:
        if (event.kind, event.subject) in self._seen:
            return f"{event.kind} happens to {event.subject} a second time"
        self._seen.add((event.kind, event.subject))
        before = self.BEFORE.get(event.kind)
        if before and (before, event.subject) not in self._seen and not event.excused():
            return f"{event.kind} of {event.subject} without {before} before it"
        if event.kind == "owner_notice.given_up":
            self._seen -= {(kind, event.subject) for kind in ("owner_notice.ordered", event.kind)}
            if ("owner_notice.sent", event.subject) in self._seen:
                return f"{event.kind} of {event.subject}, whose owner was told"
        return None
