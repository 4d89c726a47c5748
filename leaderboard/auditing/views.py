"""Explorer, event and checkpoints, for auditors. They read as the auditor's role and change nothing."""

from __future__ import annotations

import json
import re
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import auditor_page
from accounts.services import actor_for
from accounts.terms import AuditorTerm
from accounts.views import signed_in
from audit import explore, queries, wording
from audit.events import Actor
from audit.explore import AUDITOR
from leaderboard.auditing.forms import FilterForm
from leaderboard.auditing.queries import organisation_names
from leaderboard.auditing.words import CHANNELS, OUTCOMES, sentence
from submissions.delivery import delivers, hand_out

_NUMBER = re.compile(r"[0-9]{1,18}")


def number(request: HttpRequest, name: str) -> int | None:
    """A number of the query string; None where there is none. Raises Http404 for anything else."""
    given = request.GET.get(name)
    if not given:
        return None
    if not _NUMBER.fullmatch(given):
        raise Http404
    return int(given)


def reader(request: HttpRequest) -> Actor:
    """The auditor of this request, acting for the audit organisation of their term."""
    term: AuditorTerm = request.term  # type: ignore[attr-defined]
    return actor_for(signed_in(request), channel="web", organisation=term.organisation.organisation)


@require_safe
@auditor_page
@delivers("entry")
def explorer(request: HttpRequest) -> HttpResponse:
    """Events by filter, newest first."""
    names = organisation_names()
    form = FilterForm(request.GET, organisations=list(names.items()))
    valid = form.is_valid()
    wanted = form.wanted() if valid else explore.Filter()
    page = explore.Page([], None, None)
    if valid:
        page = explore.events(wanted, before=number(request, "before"), after=number(request, "after"))
    hand_out(request, "entry", "explorer", [row.id for row in page.rows], by=reader(request))
    kept = request.GET.copy()
    kept.pop("before", None)
    kept.pop("after", None)
    listed = kept.copy()
    listed["attempts"] = "on"
    kept_out = kept.copy()
    kept_out.pop("attempts", None)
    context = {
        "form": form,
        "rows": [(row, sentence(row.body, names)) for row in page.rows],
        "page": page,
        "filtered": not wanted.is_empty or not valid,
        "query": kept.urlencode(),
        "left_out": bool(wanted.without),
        "with_attempts": listed.urlencode(),
        "without_attempts": kept_out.urlencode(),
    }
    return render(request, "audit/explorer.html", context)


@require_safe
@auditor_page
@delivers("entry")
def event(request: HttpRequest, identifier: int) -> HttpResponse:
    """One event with everything that shows it is in the log."""
    found = explore.event(identifier) if identifier <= explore.LARGEST_ID else None
    if found is None:
        raise Http404
    hand_out(request, "entry", str(identifier), found.exact.decode("utf-8", "replace"), by=reader(request))
    names = organisation_names()
    acted: dict[str, Any] = found.row.body.get("actor") or {}
    context: dict[str, Any] = {
        "event": found,
        "row": found.row,
        "sentence": sentence(found.row.body, names),
        "actor": wording.actor(acted, names),
        "channel": CHANNELS.get(str(acted.get("channel", "")), acted.get("channel")),
        "outcome": OUTCOMES.get(found.row.outcome, found.row.outcome),
        "exact": found.exact.decode("utf-8", "replace"),
        "pretty": json.dumps(found.row.body, ensure_ascii=False, indent=2, sort_keys=True),
        "leaf": found.leaf.hex(),
        "path": [digest.hex() for digest in found.proof.path] if found.proof else [],
        "proof": found.proof.format() if found.proof else "",
        "keys": queries.verifier_keys(using=AUDITOR),
    }
    return render(request, "audit/event.html", context)


@require_safe
@auditor_page
@delivers("entry")
def proof(request: HttpRequest, identifier: int) -> HttpResponse:
    """The event's proof as a file: entry, path and checkpoint in one text (C2SP tlog-proof)."""
    found = explore.event(identifier) if identifier <= explore.LARGEST_ID else None
    if found is None or found.proof is None:
        raise Http404
    hand_out(request, "entry", str(identifier), found.proof.format(), by=reader(request))
    name = f"entry-{found.proof.index}.tlog-proof"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(found.proof.format(), content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
@auditor_page
def position(request: HttpRequest, place: int) -> HttpResponse:
    """A position's permanent address leads to its event."""
    identifier = explore.event_at(place) if place <= explore.LARGEST_ID else None
    if identifier is None:
        raise Http404
    return redirect(reverse("auditing:event", args=[identifier]))


@require_safe
@auditor_page
def checkpoints(request: HttpRequest) -> HttpResponse:
    """Every signed checkpoint, public or not."""
    rows = explore.checkpoints(before=number(request, "before"), limit=explore.PAGE + 1)
    more = rows[explore.PAGE - 1].checkpoint.size if len(rows) > explore.PAGE else None
    rows = rows[: explore.PAGE]
    context = {
        "rows": rows,
        "more": more,
        "keys": queries.verifier_keys(using=AUDITOR),
        "vouched": any(row.witnesses for row in rows),
        "public": False,
    }
    return render(request, "audit/checkpoints.html", context)
