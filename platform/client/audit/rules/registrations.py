"""Registrations: filed once, proposed by one, decided by another; a verification follows the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen, known_without_rule

known_without_rule("account.key_made")
READS = frozenset({"registration.read", "evidence.read", "registration.forgotten"})


@dataclass(slots=True)
class _Registration:
    organisation: str = ""
    state: str = ""
    verdict: str = ""
    proposed_by: str = ""
    seen: int = -1


class Registrations(Rule):
    """The order of a registration's events, and the two people."""

    kinds: ClassVar[frozenset[str]] = READS | {
        *("registration.filed", "registration.domain_confirmed", "registration.proposed"),
        *("registration.returned", "registration.decided", "organisation.verified"),
    }

    def __init__(self) -> None:
        self._registrations: dict[str, _Registration] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "organisation.verified":
            return self._verified(event)
        found = self._registrations.setdefault(event.subject, _Registration())
        since, found.seen = found.seen, event.position
        if event.kind == "registration.filed":
            again, found.state = found.state, "filed"
            found.organisation = event.data["organisation"]
            return f"the registration {event.subject} is filed a second time" if again else None
        if not found.state and not event.excused(since):
            return f"{event.kind} names the registration {event.subject}, which no earlier entry files"
        if event.kind in READS:
            return None
        return _moved(found, event, since)

    def _verified(self, event: Seen) -> str | None:
        name = event.data.get("registration")
        if name is None:
            return None
        found = self._registrations.get(name, _Registration())
        fits = found.state == "decided" and found.verdict == "verify" and found.organisation == event.subject
        if not fits and not event.excused(found.seen):
            return (
                f"the organisation {event.subject} is verified by a registration that two did not decide so"
            )
        return None


def _moved(found: _Registration, event: Seen, since: int) -> str | None:
    """One step of an open registration."""
    before = found.state
    if event.kind == "registration.domain_confirmed":
        wrong = before == "decided"
    elif event.kind == "registration.proposed":
        found.state, found.proposed_by = "proposed", event.data["proposed_by"]
        found.verdict, wrong = event.data["verdict"], before != "filed"
    elif event.kind == "registration.returned":
        found.state, wrong = "filed", before != "proposed"
    else:
        found.state, wrong = "decided", before != "proposed"
        if event.data["decided_by"] == found.proposed_by:
            return f"the registration {event.subject} is proposed and decided by one person alone"
        if not wrong and event.data["verdict"] != found.verdict:
            return f"the registration {event.subject} is decided otherwise than was proposed"
    if wrong and not event.excused(since):
        return f"{event.kind} happens to the registration {event.subject}, which is {before}"
    return None
