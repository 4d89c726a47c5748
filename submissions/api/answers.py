"""What every answer below /api/ has, whoever made it: one shape of errors, the caller's rate, its tag, its end date."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from submissions.api import caching, rates, versioning
from submissions.problems import Code, Refusal
from submissions.problems.handler import BODY_BYTES, MEDIA_TYPE, problem_body, problem_headers

API = "/api/"
FOREIGN = {
    400: Refusal(Code.MALFORMED_JSON, {"detail": "the request is malformed"}),
    401: Refusal(Code.NOT_AUTHENTICATED),
    403: Refusal(Code.PERMISSION_DENIED),
    404: Refusal(Code.NOT_FOUND),
    405: Refusal(Code.METHOD_NOT_ALLOWED),
    413: Refusal(Code.BODY_TOO_LARGE, {"limit": BODY_BYTES}),
    503: Refusal(Code.SERVICE_UNAVAILABLE),
}
"""What an error page that no view of the API made means."""


class ApiAnswers:
    """In front of everything that may answer below /api/."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(API):
            return self.get_response(request)
        answer = self.get_response(request)
        if answer.status_code >= 400 and not answer.get("Content-Type", "").startswith(MEDIA_TYPE):
            otherwise = Refusal(Code.INTERNAL_ERROR if answer.status_code >= 500 else Code.MALFORMED_JSON)
            answer = problem(FOREIGN.get(answer.status_code, otherwise))
        rate = rates.count(request)
        if rate is not None and rate.exceeded and answer.status_code == 401:
            answer = problem(rate.refusal())
        versioning.announce(request, answer)
        found = caching.conditional(request, answer)
        for name, value in (rate.headers() if rate else {}).items():
            found[name] = value
        return found


def problem(refusal: Refusal) -> HttpResponse:
    """`refusal` as an answer, outside of the framework."""
    return JsonResponse(
        problem_body(refusal),
        status=refusal.status,
        content_type=MEDIA_TYPE,
        headers=problem_headers(refusal),
    )
