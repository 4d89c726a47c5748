"""Refused reads: whoever is signed in and asks for an id that is not theirs is on record, and cannot tell why not.

Another organisation's object and none at all are answered alike, and are recorded alike, with the same work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse

from accounts.models import User
from accounts.permissions import Presented
from accounts.queries import membership_of
from accounts.services import actor_for
from audit import reads
from audit.events import Actor
from submissions.delivery import not_recorded_page
from submissions.problems import Code, Refusal
from submissions.problems.refusal import SOON

logger = logging.getLogger(__name__)
API = "/api/"
LONGEST = 200
"""Characters of an asked id that count."""


class RefusedReads:
    """Records every 404 about an id, and every body that names an unknown one; unrecorded, the answer is 503."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        if answer.status_code not in (404, 422) or request.resolver_match is None:
            return answer
        asked = asked_for(request, answer)
        if not asked or not isinstance(request.user, User):
            return answer
        try:
            surface, method = request.resolver_match.view_name, str(request.method)
            reads.refused(asked[:LONGEST], surface=surface, method=method, by=_actor(request, request.user))
        except Exception:  # whatever it is, the answer must not go out unrecorded
            logger.exception("a refused read could not be recorded")
            return _not_recorded(request)
        return answer


def asked_for(request: HttpRequest, answer: HttpResponse) -> str:
    """The id that was asked for and not given; empty where none was."""
    if answer.status_code == 404:
        named = list(request.resolver_match.kwargs.values()) if request.resolver_match else []
        if any(isinstance(value, UUID) for value in named):
            return " ".join(map(str, named))
        return next((str(text) for text in request.GET.dict().values() if _is_id(text)), "")
    data = getattr(answer, "data", None)
    if not isinstance(data, dict) or data.get("code") != Code.UNKNOWN_REFERENCE:
        return ""
    sent = getattr(answer, "renderer_context", {}).get("request")
    body: Any = getattr(sent, "data", {})
    return f"{data.get('field')} {body.get(str(data.get('field')), '')}" if isinstance(body, dict) else ""


def _is_id(text: object) -> bool:
    try:
        UUID(str(text))
    except ValueError:
        return False
    return True


def _actor(request: HttpRequest, user: User) -> Actor:
    presented = getattr(request, "auth", None)
    if isinstance(presented, Presented):
        return presented.actor()
    membership = membership_of(user)
    channel = "api" if request.path_info.startswith(API) else "web"
    return actor_for(user, channel=channel, organisation=membership.organisation if membership else None)


def _not_recorded(request: HttpRequest) -> HttpResponse:
    if not request.path_info.startswith(API):
        return not_recorded_page(request)
    from submissions.problems.handler import MEDIA_TYPE, problem_body

    refusal = Refusal(Code.READ_NOT_RECORDED)
    headers = {"Retry-After": str(SOON[refusal.code]), "Cache-Control": "no-store"}
    return JsonResponse(
        problem_body(refusal), status=refusal.status, content_type=MEDIA_TYPE, headers=headers
    )
