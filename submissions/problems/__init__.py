"""Problem codes, their catalogue, refusals, and the API's error shape (RFC 9457)."""

from typing import Any

from rest_framework.response import Response

from submissions.problems.catalogue import Entry, catalogue, entry
from submissions.problems.codes import Code
from submissions.problems.refusal import FieldError, NoDate, Refusal, Refused, refuse, sentence, texts


def exception_handler(exception: Exception, context: dict[str, Any]) -> Response:
    """Django REST framework's entry point; see `submissions.problems.handler`."""
    from submissions.problems import handler

    return handler.exception_handler(exception, context)


__all__ = [
    "Code",
    "Entry",
    "FieldError",
    "NoDate",
    "Refusal",
    "Refused",
    "catalogue",
    "entry",
    "exception_handler",
    "refuse",
    "sentence",
    "texts",
]
