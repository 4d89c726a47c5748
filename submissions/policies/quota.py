"""Counting: from ledger facts to what is left, which rule bites, and from when on it would be allowed. Pure.

Pages and API show what these functions return; an admission is decided by the same ones, under the lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from submissions.problems.codes import Code
from submissions.problems.refusal import NoDate, Refusal

PREFLIGHT_WINDOW = timedelta(days=7)
"""A duration between instants, never a calendar week."""


class Purpose(StrEnum):
    """What a package is sent for; it does not bind to that."""

    SUBMISSION = "submission"
    PREFLIGHT = "preflight"


class Rule(StrEnum):
    """In the order in which they are named when several bite: those without a date come first."""

    LINE = "line"
    LINEAGE = "lineage"
    ACCOUNT = "account"
    IN_FLIGHT = "in_flight"
    COOLDOWN = "cooldown"
    PREFLIGHT = "preflight"
    TOGETHER = "preflights_in_flight"
    """Preflights on their own of a whole lineage: it may register any number of harnesses, even under review."""


REFUSALS: Mapping[Rule, Code] = {
    Rule.LINE: Code.QUOTA_LINE,
    Rule.LINEAGE: Code.QUOTA_LINEAGE,
    Rule.ACCOUNT: Code.QUOTA_ACCOUNT,
    Rule.IN_FLIGHT: Code.IN_FLIGHT,
    Rule.COOLDOWN: Code.COOLDOWN,
    Rule.PREFLIGHT: Code.PREFLIGHT_CEILING,
    Rule.TOGETHER: Code.PREFLIGHTS_IN_FLIGHT,
}


@dataclass(frozen=True)
class Usage:
    """Slot rows of one counter by state."""

    reserved: int = 0
    consumed: int = 0
    refunded: int = 0


@dataclass(frozen=True)
class Terms:
    """The policy rows in force: limits as counts, the cooldown in seconds."""

    profile: str
    line: int
    lineage: int
    account: int
    in_flight: int
    preflight: int
    cooldown_seconds: int
    runs_per_task: int

    @property
    def cooldown(self) -> timedelta:
        return timedelta(seconds=self.cooldown_seconds)


@dataclass(frozen=True)
class Ledger:
    """What is on record for one line, its lineage and one account, on one task-set version."""

    line: Usage
    lineage: Usage
    account: Usage | None
    """None where no person's account is drawn on."""
    in_flight: int
    attempts: Sequence[datetime]
    """Instants of the line's admissions, preflights on their own among them, that began within the window or before;
    those that the platform did not carry out are left out."""
    preflights: int
    """Preflights on their own that are in flight, of all harnesses of the lineage."""
    cooldown_until: datetime | None
    """The latest cooldown end of the line that was not lifted."""


@dataclass(frozen=True)
class Counter:
    """One rule as shown: `used` of `limit`, and whether it refuses now."""

    rule: Rule
    limit: int
    used: int
    reserved: int = 0
    consumed: int = 0
    refunded: int = 0
    bites: bool = False
    next_allowed_at: datetime | None = None
    next_allowed_reason: NoDate | None = None

    @property
    def remaining(self) -> int:
        return max(self.limit - self.used, 0)

    def shown(self) -> dict[str, object]:
        """As the API gives it."""
        return {
            "counter": self.rule.value,
            "limit": self.limit,
            "used": self.used,
            "reserved": self.reserved,
            "consumed": self.consumed,
            "refunded": self.refunded,
            "remaining": self.remaining,
            "bites": self.bites,
            "next_allowed_at": self.next_allowed_at.isoformat() if self.next_allowed_at else None,
            "next_allowed_reason": self.next_allowed_reason.value if self.next_allowed_reason else None,
        }


@dataclass(frozen=True)
class QuotaWindow:
    """Everything that decides whether one more submission of this line is admitted at `now`."""

    terms: Terms
    counters: tuple[Counter, ...]
    cooldown: Counter
    """Limit 0 means there is no cooldown; `used` is 1 while it runs."""
    together: Counter
    """What limits preflights on their own, and nothing else."""
    now: datetime

    @property
    def rules(self) -> tuple[Counter, ...]:
        """All counters and the cooldown, in the order of `Rule`."""
        order = list(Rule)
        return tuple(sorted((*self.counters, self.cooldown), key=lambda counter: order.index(counter.rule)))

    @property
    def biting(self) -> Counter | None:
        """The rule that refuses now, or None."""
        return next((counter for counter in self.rules if counter.bites), None)

    @property
    def remaining(self) -> int:
        """How many more submissions line, lineage and account together leave."""
        slots = (Rule.LINE, Rule.LINEAGE, Rule.ACCOUNT)
        return min(counter.remaining for counter in self.counters if counter.rule in slots)

    @property
    def next_allowed_at(self) -> datetime | None:
        """From when on every biting rule lets go; None where none bites or where one of them has no date."""
        biting = [counter for counter in self.rules if counter.bites]
        dates = [counter.next_allowed_at for counter in biting if counter.next_allowed_at]
        return max(dates) if dates and len(dates) == len(biting) else None

    @property
    def next_allowed_reason(self) -> NoDate | None:
        """Why there is no date."""
        return next(
            (counter.next_allowed_reason for counter in self.rules if counter.next_allowed_reason), None
        )

    def serving(self, purpose: Purpose) -> QuotaWindow:
        """The rules for this purpose: a preflight on its own is limited by what is in flight and the ceiling only."""
        return self._for_preflight if purpose is Purpose.PREFLIGHT else self

    @property
    def _for_preflight(self) -> QuotaWindow:
        outside = self.outside_quota
        return replace(outside, counters=(*outside.counters, self.together))

    @property
    def outside_quota(self) -> QuotaWindow:
        """The rules for a re-run that was offered: what is in flight and the ceiling of preflights."""
        rules = (Rule.IN_FLIGHT, Rule.PREFLIGHT)
        counters = tuple(counter for counter in self.counters if counter.rule in rules)
        return replace(self, counters=counters, cooldown=Counter(Rule.COOLDOWN, 0, 0))

    def is_shut(self, until: datetime) -> bool:
        """Whether nothing more is admitted before `until`, as far as the rules can tell now."""
        if self.biting is None:
            return False
        if self.next_allowed_at is not None:
            return self.next_allowed_at > until
        return self.next_allowed_reason is not NoDate.WHEN_IN_FLIGHT_ENDS

    def shown(self) -> dict[str, object]:
        """As the API gives it."""
        biting = self.biting
        return {
            "policy": self.terms.profile,
            "counters": [counter.shown() for counter in self.counters],
            "cooldown": {
                "seconds": self.terms.cooldown_seconds,
                "until": self.cooldown.next_allowed_at.isoformat() if self.cooldown.next_allowed_at else None,
            },
            "remaining": self.remaining,
            "allowed": biting is None,
            "bites": biting.rule.value if biting else None,
            "next_allowed_at": self.next_allowed_at.isoformat() if self.next_allowed_at else None,
            "next_allowed_reason": self.next_allowed_reason.value if self.next_allowed_reason else None,
            "now": self.now.isoformat(),
        }

    def refusal(self) -> Refusal | None:
        """Why one more submission is not admitted now; None if it is."""
        biting = self.biting
        if biting is None:
            return None
        facts: dict[str, object] = {
            "policy": self.terms.profile,
            "counter": biting.rule.value,
            "used": biting.used,
            "limit": biting.limit,
        }
        if biting.next_allowed_at is not None:
            facts["time"] = biting.next_allowed_at.isoformat(timespec="seconds")
        return Refusal(
            REFUSALS[biting.rule],
            facts,
            next_allowed_at=self.next_allowed_at,
            next_allowed_reason=self.next_allowed_reason,
            counters=[counter.shown() for counter in self.counters],
        )


def _slots(rule: Rule, limit: int, usage: Usage) -> Counter:
    used = usage.reserved + usage.consumed
    bites = used >= limit
    return Counter(
        rule,
        limit,
        used,
        reserved=usage.reserved,
        consumed=usage.consumed,
        refunded=usage.refunded,
        bites=bites,
        next_allowed_reason=NoDate.NEXT_VERSION if bites else None,
    )


def _in_flight(rule: Rule, limit: int, count: int) -> Counter:
    bites = count >= limit
    reason = (NoDate.WHEN_IN_FLIGHT_ENDS if count else NoDate.NEXT_VERSION) if bites else None
    return Counter(rule, limit, count, bites=bites, next_allowed_reason=reason)


def _preflight(limit: int, attempts: Sequence[datetime], now: datetime) -> Counter:
    inside = sorted(instant for instant in attempts if instant + PREFLIGHT_WINDOW > now)
    if len(inside) < limit:
        return Counter(Rule.PREFLIGHT, limit, len(inside))
    if limit == 0:
        return Counter(Rule.PREFLIGHT, 0, len(inside), bites=True, next_allowed_reason=NoDate.NEXT_VERSION)
    frees = inside[len(inside) - limit] + PREFLIGHT_WINDOW
    return Counter(Rule.PREFLIGHT, limit, len(inside), bites=True, next_allowed_at=frees)


def _cooldown(terms: Terms, until: datetime | None, now: datetime) -> Counter:
    limit = 1 if terms.cooldown_seconds else 0
    if until is None or until <= now:
        return Counter(Rule.COOLDOWN, limit, 0)
    return Counter(Rule.COOLDOWN, limit, 1, bites=True, next_allowed_at=until)


def window(terms: Terms, ledger: Ledger, now: datetime) -> QuotaWindow:
    """What is left and what bites at `now`."""
    counters = [
        _slots(Rule.LINE, terms.line, ledger.line),
        _slots(Rule.LINEAGE, terms.lineage, ledger.lineage),
    ]
    if ledger.account is not None:
        counters.append(_slots(Rule.ACCOUNT, terms.account, ledger.account))
    counters.append(_in_flight(Rule.IN_FLIGHT, terms.in_flight, ledger.in_flight))
    counters.append(_preflight(terms.preflight, ledger.attempts, now))
    together = _in_flight(Rule.TOGETHER, terms.in_flight, ledger.preflights)
    cooldown = _cooldown(terms, ledger.cooldown_until, now)
    return QuotaWindow(terms, tuple(counters), cooldown, together, now)
