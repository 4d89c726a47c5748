"""Every error of the API in one shape: application/problem+json (RFC 9457) with a stable code."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from config import clock
from submissions.problems.codes import Code
from submissions.problems.refusal import SOON, FieldError, Refusal, Refused

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
BODY_BYTES = 2 * 1024 * 1024
"""Longest request body that the API reads."""

_CODES = frozenset(Code)
_UNAVAILABLE = (OperationalError, InterfaceError, BotoCoreError, ClientError)


def exception_handler(exception: Exception, context: Mapping[str, Any]) -> Response:
    """The problem that `exception` is; whatever is none is a logged 500 that says nothing of its text."""
    set_rollback()
    refusal = refusal_of(exception)
    headers = _headers(exception, refusal)
    if refusal.status >= 500 and refusal.code is not Code.INTAKE_PAUSED:
        logger.error("request failed", exc_info=exception)
    return problem_response(refusal, headers)


def problem_response(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    """`refusal` as an answer."""
    answer = Response(problem_body(refusal), status=refusal.status, content_type=MEDIA_TYPE)
    for name, value in {**problem_headers(refusal), **(headers or {})}.items():
        answer[name] = value
    return answer


def problem_headers(refusal: Refusal) -> dict[str, str]:
    return {"Cache-Control": "no-store", **_retry_after(refusal)}


def problem_body(refusal: Refusal) -> dict[str, Any]:
    """`refusal` as RFC 9457 gives it; facts of its sentence stand beside as members of their own."""
    body: dict[str, Any] = {
        "type": refusal.entry.type,
        "title": refusal.title,
        "status": refusal.status,
        "detail": refusal.detail,
        "code": refusal.code.value,
        "remedy": refusal.remedy,
        "help": refusal.entry.help,
    }
    if refusal.instance:
        body["instance"] = refusal.instance
    if refusal.next_allowed_at is not None or refusal.next_allowed_reason is not None:
        at, reason = refusal.next_allowed_at, refusal.next_allowed_reason
        body["next_allowed_at"] = at.isoformat() if at else None
        body["next_allowed_reason"] = None if at or reason is None else reason.value
    if refusal.grant:
        body["request_grant"] = refusal.grant
    if refusal.counters:
        body["counters"] = list(refusal.counters)
    if refusal.errors:
        body["errors"] = [{"path": error.path, "message": error.message} for error in refusal.errors]
    facts = {name: value if isinstance(value, int) else str(value) for name, value in refusal.facts.items()}
    return {**facts, **body}


def refusal_of(exception: Exception) -> Refusal:
    """Which problem an exception is."""
    if isinstance(exception, Refused):
        return exception.refusal
    if isinstance(exception, exceptions.APIException):
        return _of_framework(exception)
    if isinstance(exception, Http404):
        return Refusal(Code.NOT_FOUND)
    if isinstance(exception, PermissionDenied):
        return Refusal(Code.PERMISSION_DENIED)
    if isinstance(exception, RequestDataTooBig):
        return Refusal(Code.BODY_TOO_LARGE, {"limit": BODY_BYTES})
    if isinstance(exception, SuspiciousOperation):
        return Refusal(Code.MALFORMED_JSON, {"detail": "the request is malformed"})
    return Refusal(Code.SERVICE_UNAVAILABLE if isinstance(exception, _UNAVAILABLE) else Code.INTERNAL_ERROR)


def _of_framework(exception: exceptions.APIException) -> Refusal:
    if isinstance(exception, exceptions.ValidationError):
        return Refusal(Code.INVALID_FIELD, errors=list(_field_errors(exception.detail, "$")))
    if isinstance(exception, exceptions.ParseError):
        return Refusal(Code.MALFORMED_JSON, {"detail": str(exception.detail)})
    if isinstance(exception, exceptions.NotAuthenticated):
        return Refusal(Code.NOT_AUTHENTICATED)
    if isinstance(exception, exceptions.AuthenticationFailed):
        return Refusal(_known(exception, Code.TOKEN_INVALID))
    if isinstance(exception, exceptions.PermissionDenied):
        csrf = str(exception.detail).startswith("CSRF")
        return Refusal(Code.CSRF_FAILED if csrf else _known(exception, Code.PERMISSION_DENIED))
    plain = {
        exceptions.NotFound: Code.NOT_FOUND,
        exceptions.MethodNotAllowed: Code.METHOD_NOT_ALLOWED,
        exceptions.NotAcceptable: Code.NOT_ACCEPTABLE,
        exceptions.UnsupportedMediaType: Code.UNSUPPORTED_MEDIA_TYPE,
        exceptions.Throttled: Code.TOO_MANY_REQUESTS,
    }
    return Refusal(plain.get(type(exception), Code.INTERNAL_ERROR))


def _known(exception: exceptions.APIException, otherwise: Code) -> Code:
    """The code an authentication class gave, where the catalogue knows it."""
    code = exception.get_codes()
    return Code(code) if isinstance(code, str) and code in _CODES else otherwise


def _field_errors(detail: Any, path: str) -> Iterator[FieldError]:
    """The framework's nested errors as JSON paths."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            deeper = path if name == "non_field_errors" else f"{path}.{name}"
            yield from _field_errors(inner, deeper[:200])
    elif isinstance(detail, list):
        for at, inner in enumerate(detail):
            yield from _field_errors(inner, path if isinstance(inner, str) else f"{path}[{at}]")
    else:
        yield FieldError(path, str(detail)[:400])


def _headers(exception: Exception, refusal: Refusal) -> dict[str, str]:
    headers = {}
    if isinstance(exception, exceptions.APIException):
        wait = getattr(exception, "wait", None)
        if wait:
            headers["Retry-After"] = str(max(math.ceil(wait), 1))
    if refusal.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="api"'
    return headers


def _retry_after(refusal: Refusal) -> dict[str, str]:
    """Whole seconds until it is allowed, at least 1, so that waiting that long succeeds."""
    if refusal.code in SOON:
        return {"Retry-After": str(SOON[refusal.code])}
    if refusal.status != 429 or refusal.next_allowed_at is None:
        return {}
    seconds = (refusal.next_allowed_at - clock.now()).total_seconds()
    return {"Retry-After": str(max(math.ceil(seconds), 1))}
