"""The quota ledger as read: terms in force, usage, and the window that both shows and decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Q

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Harness, QuotaPolicy, Slot, Submission
from submissions.policies import PREFLIGHT_WINDOW, Ledger, QuotaWindow, Terms, Usage, window
from submissions.policies.states import IN_FLIGHT
from submissions.queries.registry import harnesses_of, open_task_sets

STATES = (Slot.State.RESERVED, Slot.State.CONSUMED, Slot.State.REFUNDED)


@dataclass(frozen=True)
class TaskSetTerms:
    """An open task set and the policy rows in force on it, for the rules page."""

    task_set: TaskSetVersion
    terms: Terms


@dataclass(frozen=True)
class QuotaCard:
    """What one harness has left on one task set."""

    task_set: TaskSetVersion
    harness: Harness
    window: QuotaWindow


def terms_at(task_set: TaskSetVersion, at: datetime | None = None) -> Terms | None:
    """The rules in force at `at` (now); None where the version has none, so that nobody is entitled to it."""
    rows = (
        QuotaPolicy.objects.filter(task_set=task_set, valid_from__lte=at or clock.now())
        .order_by("rule", "-valid_from")
        .distinct("rule")
    )
    found = {row.rule: row for row in rows}
    if set(found) != set(QuotaPolicy.Rule.values):
        return None
    latest = max(found.values(), key=lambda row: row.valid_from)
    return Terms(profile=latest.profile, **{rule: row.value for rule, row in found.items()})


def quota_window(
    harness: Harness, task_set: TaskSetVersion, *, account: UUID | None, now: datetime | None = None
) -> QuotaWindow | None:
    """Every counter with limit, used, reserved, refunded and remaining, which one bites, and from when on it lets go.

    `account` is the person whose allowance would be drawn on; None where no person is. None is returned where the
    version has no policy in force. The same function decides an admission, called under the counters' locks.
    """
    now = now or clock.now()
    terms = terms_at(task_set, now)
    if terms is None:
        return None
    return window(terms, _ledger(harness, task_set, account, now), now)


def quota_cards(organisation: Organisation, *, account: UUID | None) -> list[QuotaCard]:
    """One card per open task set and harness of the organisation, untouched ones included."""
    found = []
    for task_set in open_task_sets():
        for harness in harnesses_of(organisation):
            shown = quota_window(harness, task_set, account=account)
            if shown is not None:
                found.append(QuotaCard(task_set, harness, shown))
    return found


def usage_of(task_set: TaskSetVersion, **subject: object) -> Usage:
    """Slot rows of one counter by state, as in `usage_of(task_set, lineage=…)`."""
    rows = Slot.objects.filter(task_set=task_set, **subject).values_list("state").annotate(n=Count("id"))
    return Usage(**{str(state): count for state, count in rows})


def _ledger(harness: Harness, task_set: TaskSetVersion, account: UUID | None, now: datetime) -> Ledger:
    subjects = {"line": Q(line=harness), "lineage": Q(line__in=_lines_of_lineage(harness))}
    if account is not None:
        subjects["account"] = Q(account_id=account)
    usages = _usages(task_set, subjects)
    of_line = Submission.objects.filter(harness_version__harness=harness, task_set=task_set)
    attempts = of_line.filter(admitted_at__gt=now - PREFLIGHT_WINDOW).exclude(state=Submission.State.VOIDED)
    cooling = of_line.filter(cooldown_until__gt=now, cooldown_ended_at__isnull=True)
    return Ledger(
        line=usages["line"],
        lineage=usages["lineage"],
        account=usages.get("account"),
        in_flight=of_line.filter(state__in=IN_FLIGHT).count(),
        attempts=list(attempts.values_list("admitted_at", flat=True)),
        cooldown_until=cooling.aggregate(until=Max("cooldown_until"))["until"],
    )


def _lines_of_lineage(harness: Harness) -> list[UUID]:
    """All harnesses whose uses count together: of the organisation and of those linked with it by now.

    Not by the lineage in the slot: that says whose allowance it was when the use was reserved.
    """
    together = Harness.objects.filter(organisation__lineage__organisations=harness.organisation_id)
    return list(together.values_list("pk", flat=True))


def _usages(task_set: TaskSetVersion, subjects: dict[str, Q]) -> dict[str, Usage]:
    """All counters in one reading, so that they agree with one another."""
    counts = {
        f"{name}_{state}": Count("id", filter=subject & Q(state=state))
        for name, subject in subjects.items()
        for state in STATES
    }
    found = Slot.objects.filter(_any(subjects.values()), task_set=task_set).aggregate(**counts)
    return {name: Usage(**{state.value: found[f"{name}_{state}"] for state in STATES}) for name in subjects}


def _any(conditions: Iterable[Q]) -> Q:
    found = Q()
    for condition in conditions:
        found |= condition
    return found
