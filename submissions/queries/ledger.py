"""The quota ledger as read: terms in force, usage, and the window that both shows and decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Harness, QuotaPolicy, Slot
from submissions.policies import Purpose, QuotaWindow, Terms, Usage, window
from submissions.problems import Code, Refusal
from submissions.queries.registry import harnesses_of, open_task_sets
from submissions.queries.statements import ledger_row

RETURNS_SHOWN = 10
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
    terms, ledger = ledger_row(harness.pk, task_set.pk, account, now)
    return window(terms, ledger, now) if terms else None


def returned_by_staff(organisation: Organisation) -> list[Slot]:
    """The latest uses that staff gave back to this organisation, newest first, on versions that are open."""
    rows = Slot.objects.filter(submission__organisation=organisation, cause=Code.REFUND_BY_STAFF)
    related = rows.filter(task_set__in=open_task_sets()).select_related(
        "submission__harness_version__harness"
    )
    return list(related.order_by("-refunded_at")[:RETURNS_SHOWN])


def shut_everywhere(
    harness: Harness, *, account: UUID | None, until: datetime, purpose: Purpose = Purpose.SUBMISSION
) -> Refusal | None:
    """Why no open version would admit this harness before `until`, so that a package would be sent in vain.

    None where one may: what a submission in flight holds may be free at any moment. None too where none is open.
    """
    found = None
    for task_set in open_task_sets():
        shown = quota_window(harness, task_set, account=account)
        if shown is None:
            continue
        shown = shown.serving(purpose)
        if not shown.is_shut(until):
            return None
        found = found or shown.refusal()
    return found


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
    """Slot rows of one counter by state, as in `usage_of(task_set, lineage=…)`; those of offered re-runs are no use."""
    rows = (
        Slot.objects.filter(task_set=task_set, offer=None, **subject)
        .values_list("state")
        .annotate(n=Count("id"))
    )
    return Usage(**{str(state): count for state, count in rows})
