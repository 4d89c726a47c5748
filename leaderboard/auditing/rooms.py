"""Audit rooms, for auditors: what two people opened, for as long as it is open; each look is an event first."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import AuditorRequest, auditor_page
from accounts.auditors import actor_for
from accounts.rooms import queries
from evaluation.queries import single_results
from submissions.delivery import delivers, hand_out
from submissions.models import Submission


@require_safe
@auditor_page
def rooms(request: AuditorRequest) -> HttpResponse:
    """The rooms that were opened for this auditor."""
    return render(request, "audit/rooms.html", {"rows": queries.rooms_of(request.term)})


@require_safe
@auditor_page
@delivers("audit_room")
def room(request: AuditorRequest, room: UUID) -> HttpResponse:
    """The single results of the room's submission. Another's room, a closed one and none are the same 404."""
    found = queries.open_room_of(request.term, room)
    if found is None:
        raise Http404
    submission = Submission.objects.select_related("held_out_run", "organisation").get(pk=found.submission_id)
    assert submission.held_out_run is not None  # a room is proposed about nothing else
    rows = single_results(submission.held_out_run)
    form = [[row.episode.task.slug, row.episode.run_index, str(row.score), row.failure_type] for row in rows]
    hand_out(request, "audit_room", found.id, form, by=actor_for(request.term))
    return render(request, "audit/room.html", {"room": found, "submission": submission, "rows": rows})
