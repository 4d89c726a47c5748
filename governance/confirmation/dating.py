"""The public calendar: dates planned, and dated releases that freeze what was confirmed before them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from config import clock
from governance.confirmation import document, events, services
from governance.confirmation.models import ConfirmationRun, ReleaseDate
from governance.confirmation.policies import next_move
from governance.confirmation.queries import facts_of
from governance.correcting.following import follow
from governance.models import ReleasePolicy

State = ConfirmationRun.State
RESULTS_DAY = 15
"""Of March, June, September and December, at HOUR: comparable results. Errata come on the first of each month."""
HOUR = 8

Errata = Callable[[ReleaseDate, Actor], str]
"""Makes the document of a date of errata, in its transaction; empty where it has none."""


class NotDue(ValueError):
    """The date is still ahead."""


def plan(label: str, *, kind: str, planned_for: datetime, by: Actor) -> ReleaseDate:
    """Put a date into the public calendar; one that is there stays as it is."""
    with transaction.atomic():
        found = ReleaseDate.objects.filter(label=label).first()
        if found is not None:
            return found
        row = ReleaseDate.objects.create(label=label, kind=kind, planned_for=planned_for)
        event = events.ReleasePlanned(
            subject=row.id, label=label, purpose=kind, planned_for=timestamp(planned_for)
        )
        log.append(event, by=by)
    return row


def plan_year(year: int, *, by: Actor) -> list[ReleaseDate]:
    """The official calendar of a year: results each quarter, errata each month."""
    kind = ReleaseDate.Kind
    dates = [
        (f"{year}-q{month // 3}", kind.RESULTS, datetime(year, month, RESULTS_DAY, HOUR, tzinfo=UTC))
        for month in (3, 6, 9, 12)
    ]
    dates += [
        (f"{year}-{month:02}-errata", kind.ERRATA, datetime(year, month, 1, HOUR, tzinfo=UTC))
        for month in range(1, 13)
    ]
    return [plan(label, kind=what, planned_for=at, by=by) for label, what, at in dates]


def date_on_command(label: str, *, by: Actor) -> ReleaseDate:
    """A dated release now, as the demo policy has it. Raises NotDue where an official version is open to results."""
    now = clock.now()
    if ReleasePolicy.objects.filter(profile=ReleasePolicy.Profile.OFFICIAL).exists():
        raise NotDue("there is an official policy: its results are released at planned dates only")
    plan(label, kind=ReleaseDate.Kind.RESULTS, planned_for=now, by=by)
    return date_release(label, by=by)


def without_document(date: ReleaseDate, by: Actor) -> str:
    """A date of errata of which nothing is said."""
    return ""


def date_release(label: str, *, by: Actor, errata: Errata = without_document) -> ReleaseDate:
    """Let a planned date take place: everything confirmed before it is frozen in one document, once.

    A date of errata gets the document that `errata` makes. Raises ReleaseDate.DoesNotExist, NotDue. Doing it again
    changes nothing.
    """
    with transaction.atomic():
        row = ReleaseDate.objects.select_for_update().get(label=label)
        if row.dated_at is not None:
            return row
        if clock.now() < row.planned_for:
            raise NotDue(f"{label} is planned for {row.planned_for.isoformat()}")
        row.dated_at = clock.now()
        rows = _ended() if row.kind == ReleaseDate.Kind.RESULTS else []
        published = _publishable(rows, by)
        withdrawn = [found for found in rows if found.state == State.WITHDRAWN]
        if row.kind == ReleaseDate.Kind.RESULTS:
            counts = Counter(found.task_set.label for found in withdrawn)
            row.document = document.text(row.label, row.dated_at, published, counts)
        else:
            row.document = errata(row, by)
        if row.document:
            row.sha256 = hashlib.sha256(row.document.encode()).hexdigest()
        row.save(update_fields=["dated_at", "document", "sha256"])
        for found in [*published, *withdrawn]:
            _enter(found, row, by)
        event = events.ReleaseDated(
            subject=row.id,
            label=label,
            sha256=row.sha256,
            results=len(published),
            withdrawn=len(withdrawn),
        )
        log.append(event, by=by)
    return row


def date_due(*, by: Actor, errata: Errata = without_document) -> None:
    """Let every planned date take place that has come."""
    due = ReleaseDate.objects.filter(dated_at=None, planned_for__lte=clock.now()).order_by("planned_for")
    for label in due.values_list("label", flat=True):
        date_release(label, by=by, errata=errata)


def _ended() -> list[ConfirmationRun]:
    """Confirmed or withdrawn and in no dated release yet, held until the transaction ends."""
    rows = ConfirmationRun.objects.filter(
        state__in=(State.CONFIRMED, State.WITHDRAWN), release_date=None
    ).select_related("task_set", "run", "submission__harness_version__harness", "submission__organisation")
    return list(rows.select_for_update(of=("self",)).order_by("requested_at", "id"))


def _publishable(rows: Sequence[ConfirmationRun], by: Actor) -> list[ConfirmationRun]:
    """Confirmed ones that may be published now; who took the consent back, or whose owner objected, withdraws here.

    One that has to be graded again first, as its submission was, waits for the next date.
    """
    found = []
    for row in rows:
        if row.state != State.CONFIRMED:
            continue
        facts = facts_of(row)
        if move := next_move(facts):
            services.make(row, move, by=by)
        elif facts.may_publish and not follow(row, by=by):
            found.append(row)
    return found


def _enter(row: ConfirmationRun, date: ReleaseDate, by: Actor) -> None:
    row.release_date = date
    row.save(update_fields=["release_date"])
    told: dict[str, Any] = {}
    if row.state == State.CONFIRMED:
        told = {"values": row.result.values, "sides": row.result.sides or None}
    event = events.ConfirmationDated(
        subject=row.id,
        release_date=str(date.id),
        label=date.label,
        state=row.state,
        values=told.get("values"),
        sides=told.get("sides"),
    )
    log.append(event, by=by)
