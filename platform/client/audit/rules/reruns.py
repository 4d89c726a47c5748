"""Re-runs outside the quota: offered for what was published, and taken once, by that very combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen

NOT_RETURNED = "nothing_reported"
"""The cause that returns a use and leaves its offer used."""


@dataclass(slots=True)
class _Offer:
    combination: tuple[str, str] = ("", "")
    """Harness version and digest of the package."""
    task_set: str = ""
    """Empty where the offer was not seen being made."""
    state: str = ""
    submission: str = ""
    seen: int = -1


@dataclass(slots=True)
class _Admitted:
    combination: tuple[str, str]
    task_set: str
    has_cooldown: bool


class Offers(Rule):
    """Made for a submission that a dated release published, on the version after it; once each."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"submission.admitted", "confirmation.requested", "confirmation.dated", "succession.stated"}
        | {"rerun_offer.made"}
    )

    def __init__(self) -> None:
        self._admitted: dict[str, tuple[str, str, str]] = {}
        self._confirms: dict[str, str] = {}
        self._published: set[str] = set()
        self._next: dict[str, str] = {}
        self._made: set[str] = set()
        self._for: set[tuple[str, str]] = set()

    def see(self, event: Seen) -> str | None:
        data = event.data
        if event.kind == "submission.admitted":
            self._admitted[event.subject] = (
                data["harness_version"],
                data["package_digest"],
                data["task_set"],
            )
        elif event.kind == "confirmation.requested":
            self._confirms[event.subject] = data["submission"]
        elif event.kind == "confirmation.dated":
            if data["state"] == "confirmed":
                self._published.add(self._confirms.get(event.subject, ""))
        elif event.kind == "succession.stated":
            self._next[data["former"]] = data["label"]
        else:
            return self._make(event)
        return None

    def _make(self, event: Seen) -> str | None:
        data, former = event.data, event.data["former"]
        place = (former, data["task_set"])
        again = event.subject in self._made or place in self._for
        self._made.add(event.subject)
        self._for.add(place)
        if again:
            return f"a re-run of the submission {former} is offered a second time"
        admitted = self._admitted.get(former)
        if admitted is not None and admitted[:2] != (data["harness_version"], data["package_digest"]):
            return f"the re-run {event.subject} is offered for something else than the submission {former}"
        if admitted is None or former not in self._published:
            return (
                None
                if event.excused()
                else f"a re-run is offered of the submission {former}, which no dated release has published"
            )
        if self._next.get(admitted[2]) != data["task_set"] and not event.excused():
            return (
                f"a re-run of the submission {former} is offered on {data['task_set']}, which does not follow"
            )
        return None


class Reruns(Rule):
    """No slot is outside the quota but by an open offer for its combination; a returned use alone opens it again."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"submission.admitted", "slot.reserved", "slot.refunded", "rerun_offer.made", "rerun_offer.used"}
        | {"rerun_offer.reopened", "rerun_offer.ended"}
    )

    def __init__(self) -> None:
        self._admitted: dict[str, _Admitted] = {}
        self._offers: dict[str, _Offer] = {}
        self._taken: dict[str, str] = {}
        """By submission whose slot is still to come."""
        self._returned: dict[str, str] = {}

    def see(self, event: Seen) -> str | None:
        data = event.data
        if event.kind == "submission.admitted":
            combination = (data["harness_version"], data["package_digest"])
            cooldown = data.get("cooldown_until") is not None
            self._admitted[event.subject] = _Admitted(combination, data["task_set"], cooldown)
            return None
        if event.kind == "slot.reserved":
            return self._reserved(event)
        if event.kind == "slot.refunded":
            self._returned[data["submission"]] = data["cause"]
            return None
        if event.kind == "rerun_offer.made":
            combination = (data["harness_version"], data["package_digest"])
            self._offers.setdefault(
                event.subject, _Offer(combination, data["task_set"], "open", seen=event.position)
            )
            return None
        return self._later(event)

    def _reserved(self, event: Seen) -> str | None:
        submission, offer = event.data["submission"], event.data.get("offer")
        taken = self._taken.pop(submission, None)
        if offer == taken or event.excused():
            return None
        if offer is None:
            return f"the submission {submission} took an offer of a re-run, and its slot counts in the quota"
        return f"the slot {event.subject} is outside the quota by the offer {offer}, which {submission} did not take"

    def _later(self, event: Seen) -> str | None:
        offer = self._offers.setdefault(event.subject, _Offer())
        since, offer.seen = offer.seen, event.position
        if not offer.state and not event.excused():
            return f"{event.kind} names the offer {event.subject}, which no earlier entry makes"
        if event.kind == "rerun_offer.used":
            return self._used(event, offer, since)
        if event.kind == "rerun_offer.reopened":
            return self._reopened(event, offer, since)
        before, offer.state = offer.state, event.outcome
        wrong = before not in ("open", "") and not event.excused(since)
        return f"the offer {event.subject} ends while it is {before}" if wrong else None

    def _used(self, event: Seen, offer: _Offer, since: int) -> str | None:
        submission = event.data["submission"]
        before, offer.state, offer.submission = offer.state, "used", submission
        self._taken[submission] = event.subject
        if before not in ("open", "") and not event.excused(since):
            return f"the offer {event.subject} of a re-run is used while it is {before}"
        admitted = self._admitted.get(submission)
        if admitted is None:
            missed = not event.excused()
            return f"{submission} takes a re-run, and no earlier entry admits it" if missed else None
        if offer.task_set and (admitted.combination, admitted.task_set) != (
            offer.combination,
            offer.task_set,
        ):
            return f"the submission {submission} takes a re-run that was offered for something else"
        return f"the re-run {submission} starts a cooldown" if admitted.has_cooldown else None

    def _reopened(self, event: Seen, offer: _Offer, since: int) -> str | None:
        submission = event.data["submission"]
        before, offer.state = (offer.state, offer.submission), "open"
        if before[0] and before != ("used", submission) and not event.excused(since):
            return f"the offer {event.subject} opens again, but {submission} did not use it"
        cause = self._returned.get(submission)
        if (cause is None or cause == NOT_RETURNED) and not event.excused():
            return f"the offer {event.subject} opens again, but the use of {submission} was not returned"
        return None
