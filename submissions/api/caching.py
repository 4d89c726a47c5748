"""ETag and 304: a client that has a representation asks whether it still holds, and is not sent it again.

The comparison is weak: what a view says is its substance decides, and no time that passes by itself. The view has run
by then, and what it records as read is recorded: a 304 delivers "unchanged".
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers

VARIES = ("Authorization", "Cookie", "Accept-Language")


def tag(form: Any) -> str:
    """The weak tag of what a representation says."""
    text = json.dumps(form, cls=DjangoJSONEncoder, sort_keys=True, ensure_ascii=False)
    return f'W/"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def says(answer: HttpResponse, form: Any) -> HttpResponse:
    """`answer` tagged by `form` instead of by all of its bytes."""
    answer["ETag"] = tag(form)
    return answer


def conditional(request: HttpRequest, answer: HttpResponse) -> HttpResponseBase:
    """`answer`, or 304 where the client has it. What sets a Cache-Control of its own, and refusals, are left alone."""
    if request.method not in ("GET", "HEAD") or answer.status_code != 200 or answer.streaming:
        answer.setdefault("Cache-Control", "no-store")
        return answer
    if not answer.has_header("Cache-Control"):
        answer["Cache-Control"] = "private, no-cache"
    if "no-store" in answer["Cache-Control"]:
        return answer
    patch_vary_headers(answer, VARIES)
    if not answer.has_header("ETag"):
        answer["ETag"] = f'W/"{hashlib.sha256(answer.content).hexdigest()[:32]}"'
    return get_conditional_response(request, etag=answer["ETag"], response=answer) or answer
