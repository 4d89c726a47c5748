"""A preflight on its own draws on nothing, and nothing of a whole submission happens to it."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen

WHOLE = frozenset(
    {
        *("submission.admitted", "submission.answered_by_earlier", "submission.canary_started"),
        *(
            "submission.publication_consent_changed",
            "cooldown.lifted",
            "result.released",
            "sealed_export.made",
        ),
        *("owner_notice.ordered", "owner_notice.sent", "upload.used", "slot.reserved"),
    }
)
"""What only a whole submission has."""
NAMED = frozenset({"upload.used", "slot.reserved"})
"""Those of them that name it in a fact; of the others it is the subject."""


class Alone(Rule):
    """No use, no upload used up, no cooldown, no canary, no release, no publication of a preflight on its own."""

    kinds: ClassVar[frozenset[str]] = WHOLE | {"preflight.admitted"}

    def __init__(self) -> None:
        self._preflights: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "preflight.admitted":
            self._preflights.add(event.subject)
            return None
        name = event.data["submission"] if event.kind in NAMED else event.subject
        if name in self._preflights:
            return f"{event.kind} happens to {name}, which is a preflight on its own"
        return None
