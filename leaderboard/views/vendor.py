"""Vendor pages that show results: the home of the area, and the result of one submission."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import member_page
from accounts.models import Organisation
from accounts.views import membership_in, signed_in
from audit.events import Actor
from benchmark.models import TaskSetVersion
from evaluation.alerts.queries import standstill
from governance.appeals.queries import appealable_until
from governance.queries import ReleasedResult, released_result, released_results
from governance.records import queries as records
from governance.rotation.queries import succession_after
from leaderboard import results
from leaderboard.queries import domain_counts
from submissions import queries
from submissions.delivery import PRECISION, delivers, hand_out, show_status
from submissions.faces import list_face, submission_face, window_face
from submissions.policies import Counter, Rule
from submissions.queries import QuotaCard
from submissions.views.common import actor

LATEST = 5
"""How many results the home shows."""


@require_safe
@member_page
@delivers("result", "submission")
def home(request: HttpRequest) -> HttpResponse:
    """Quota and cooldown per harness and version, what is running, and the latest results."""
    membership = membership_in(request)
    organisation = membership.organisation
    by_task_set: dict[TaskSetVersion, list[dict[str, Any]]] = defaultdict(list)
    for card in queries.quota_cards(organisation, account=signed_in(request).pk):
        shown = {"harness": card.harness, "window": card.window, "tightest": tightest(card)}
        by_task_set[card.task_set].append(shown)
    windows = [shown["window"] for cards in by_task_set.values() for shown in cards]
    running = queries.in_flight_of(organisation)
    latest = latest_results(organisation)
    by = actor(request)
    for shown_result in latest:
        _hand_out(request, shown_result["result"], by)
    returned = queries.returned_by_staff(organisation)
    face = [list_face(running), [window_face(window) for window in windows]]
    face.append([[str(slot.id), slot.reason] for slot in returned])
    show_status(request, "submission", ("organisation", organisation.id), face, by=by)
    context = {
        "membership": membership,
        "organisation": organisation,
        "quota": dict(by_task_set),
        "returned": returned,
        "blocked": bool(windows) and all(window.biting for window in windows),
        "has_harness": bool(queries.harnesses_of(organisation)),
        "open": queries.open_task_sets(),
        "paused": standstill(),
        "running": [(submission, queries.progress(submission)) for submission in running],
        "to_do": [submission for submission in running if submission.state == "awaiting_choice"],
        "latest": latest,
    }
    return render(request, "leaderboard/home.html", context)


def _hand_out(request: HttpRequest, released: ReleasedResult, by: Actor) -> None:
    """Record that the figures of a result are about to be shown."""
    shown = released.as_dict()
    hand_out(request, "result", released.submission_id, shown, by=by, precision=PRECISION)


def tightest(card: QuotaCard) -> Counter:
    """The counter of uses that leaves least: the one whose numbers head the card."""
    uses = [
        counter for counter in card.window.counters if counter.rule in (Rule.LINE, Rule.LINEAGE, Rule.ACCOUNT)
    ]
    return min(uses, key=lambda counter: counter.remaining)


def latest_results(organisation: Organisation) -> list[dict[str, Any]]:
    """The newest released results with their rows."""
    complete = queries.submissions_of(organisation, state="complete", limit=LATEST)
    by_id = {submission.id: submission for submission in complete}
    return [
        {"submission": by_id[result.submission_id], "result": result, "lines": results.lines(result)}
        for result in released_results(complete)
    ]


@require_safe
@member_page
@delivers("result", "submission")
def result(request: HttpRequest, submission: UUID) -> HttpResponse:
    """Four domain values ± h, the enterprise mean, the coverage; nothing finer exists here."""
    found = queries.submission_of(membership_in(request).organisation, submission)
    released = released_result(found)
    context: dict[str, Any] = {"submission": found, "result": released}
    if released is None:
        face = submission_face(found)
        show_status(request, "submission", ("submission", found.id), face, by=actor(request))
    else:
        _hand_out(request, released, actor(request))
        counts = {row.domain: row.held_out for row in domain_counts(found.task_set)}
        context |= {"lines": results.lines(released, counts), "rows": results.chart_rows(released)}
        context["sides"] = results.side_lines(released)
        context["appeal_until"] = appealable_until(found)
        context["succession"] = succession_after(found.task_set)
        context["former"] = results.former_lines(released)
        context["revision"] = results.revision_lines(records.revision_of(released, found.task_set))
    return render(request, "leaderboard/result.html", context)
