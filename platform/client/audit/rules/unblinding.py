"""Sealed exports need two people; what is drawn for grading again was fixed before the result was released."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen


class SealedExports(Rule):
    """Two different people, an export that is named by its hash, and a submission that was admitted."""

    kinds: ClassVar[frozenset[str]] = frozenset({"submission.admitted", "sealed_export.made"})

    def __init__(self) -> None:
        self._admitted: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "submission.admitted":
            self._admitted.add(event.subject)
            return None
        if len(set(event.data["people"])) < 2:
            return f"the sealed export of the submission {event.subject} was not made by two people"
        if len(event.data["content"]) != 64 or event.data["runs"] < 0:
            return f"the sealed export of the submission {event.subject} is not named by its hash"
        if event.subject not in self._admitted and not event.excused():
            return f"a sealed export is made of the submission {event.subject}, which no earlier entry begins"
        return None


class Regrading(Rule):
    """A seed is committed before the release, and graded again is only what a committed seed draws."""

    kinds: ClassVar[frozenset[str]] = frozenset({"result.released", "regrading.committed", "regrading.done"})

    def __init__(self) -> None:
        self._released: set[str] = set()
        self._committed: set[tuple[str, str]] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "result.released":
            self._released.add(event.subject)
            return None
        seed = (event.subject, event.data["seed_digest"])
        if event.kind == "regrading.committed":
            self._committed.add(seed)
            if event.subject in self._released:
                return f"a seed is committed for the submission {event.subject} after its release"
            return None
        if seed not in self._committed and not event.excused():
            return f"runs of the submission {event.subject} are graded again by a seed that was not committed"
        if not 0 <= event.data["differences"] <= event.data["count"]:
            return f"the grading again of the submission {event.subject} counts more differences than runs"
        return None
