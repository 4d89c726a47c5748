"""Staff pages: what is running and what it waits for, what workers proved at start."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts import services as accounts
from accounts.access import staff_page
from accounts.registration.queries import waiting
from accounts.views import signed_in
from config import clock
from evaluation.hosts.queries import speed_shares
from evaluation.queries import live_workers
from submissions import queries
from submissions.delivery import delivers, show_status

MIB = 1024 * 1024
SEEN_WITHIN = timedelta(minutes=10)
"""Workers silent for longer are no longer listed."""


@require_safe
@staff_page
def inbox(request: HttpRequest) -> HttpResponse:
    return redirect("console:submissions")


@require_safe
@staff_page
@delivers("submission")
def running(request: HttpRequest) -> HttpResponse:
    """Every submission that is not at an end, oldest state first."""
    rows = queries.running_for_staff()
    face = [[row.submission.id, row.submission.state, row.work.counts if row.work else None] for row in rows]
    by = accounts.actor_for(signed_in(request), channel="web")
    show_status(request, "submission", ("console", "submissions"), face, by=by)
    context = {"rows": rows, "waiting_for_review": len(waiting())}
    return render(request, "console/submissions.html", context)


@require_safe
@staff_page
def workers(request: HttpRequest) -> HttpResponse:
    """What each worker proved, how fast its host is, and why one takes no held-out work."""
    shares = {
        host: {"processor": f"{one:.2f}", "disk": f"{two:.2f}"} for host, (one, two) in speed_shares().items()
    }
    rows: list[dict[str, Any]] = [
        {
            "worker": worker,
            "probes": probes(worker.report),
            "silent": is_silent(worker.seen_at),
            "speed": shares.get(worker.host),
        }
        for worker in live_workers(clock.now() - SEEN_WITHIN)
    ]
    return render(request, "console/workers.html", {"rows": rows})


def is_silent(seen_at: datetime) -> bool:
    """Whether a worker has given no sign of life for three leases: what it held is given to others by then."""
    return clock.now() - seen_at > timedelta(seconds=3 * settings.LEASE_SECONDS)


def probes(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """(name, sandbox, state of the status table, what was seen) of each probe in a worker's isolation report."""
    words = {"pass": "passed", "fail": "failed"}
    found = []
    for probe in report.get("probes", []):
        result = str(probe.get("result", ""))
        name, where = str(probe.get("name", "")), str(probe.get("where", ""))
        found.append((name, where, words.get(result, result), readable(str(probe.get("detail", "")))))
    return found


def readable(detail: str) -> str:
    """What a probe saw, without the brackets of its data: bytes in MiB, floats with two places."""
    text = re.sub(r"[()\[\]{}'\"]", "", detail)
    text = re.sub(r"\b\d+\.\d{3,}\b", lambda match: f"{float(match[0]):.2f}", text)
    text = re.sub(
        r"(measured|declared) (\d{7,})\b", lambda match: f"{match[1]} {int(match[2]) / MIB:.1f} MiB", text
    )
    return re.sub(r",\s*$", "", text.strip())
