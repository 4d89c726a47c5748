"""Everything the gateway says in place of a model: closed codes, in the shape that each dialect gives its errors.

No text of a provider, no address and nothing of the request stands in them but the name of one field.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

from evaluation.gateway.contract import Dialect

ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
OPENAI_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    429: "insufficient_quota",
}


class Code(Enum):
    """Value: status, and a sentence that says what to do."""

    NOT_HTTP = (400, "The request is not well-formed HTTP/1.1.")
    HEADERS_TOO_LARGE = (431, "The request line and headers together are larger than 32 KiB.")
    LENGTH_REQUIRED = (411, "Send the body with a Content-Length, not in chunks.")
    BODY_TOO_LARGE = (413, "The body is larger than 25 MiB.")
    TOO_SLOW = (408, "The request did not arrive in time.")
    NOT_FOUND = (404, "Only /v1/chat/completions, /v1/responses, /v1/messages and /v1/models are served.")
    METHOD_NOT_ALLOWED = (405, "Models are called by POST and listed by GET.")
    NO_CREDENTIAL = (
        401,
        "The key of this episode is missing or wrong: use OPENAI_API_KEY or ANTHROPIC_API_KEY.",
    )
    NOT_JSON = (400, "The body is not one JSON object in UTF-8.")
    TOO_COMPLEX = (
        400,
        "The body holds more than a million texts, commas and brackets, or is nested deeper than 100.",
    )
    FIELD_INVALID = (400, "A field has a type or value that the dialect does not allow.")
    MODEL_NOT_LISTED = (403, "This model is not listed in harness.toml; use the name in MODEL_<ROLE>_NAME.")
    DIALECT_DIFFERS = (400, "This model is registered with another dialect; call it on that dialect's path.")
    HOSTED_TOOL = (
        400,
        "Tools that a provider runs are not available; offer tools that the harness runs itself.",
    )
    REMOTE_CONTENT = (400, "Addresses and file ids are not passed on; send the content inline as base64.")
    STORED_STATE = (
        400,
        "Nothing that a provider keeps can be used; send the whole conversation with each call.",
    )
    CONTENT_NOT_ALLOWED = (400, "The request holds a kind of content that is not passed on.")
    PARAMETER_LOCKED = (400, "This parameter is locked to what the HarnessCard declares.")
    BUDGET_EXHAUSTED = (429, "The budget of this episode is used up; no further call is made.")
    UPSTREAM_REFUSED = (400, "The upstream refused the request.")
    CONTEXT_TOO_LONG = (400, "The request is longer than the model's context.")
    UPSTREAM_UNAVAILABLE = (503, "The upstream did not answer, also after further attempts.")
    UPSTREAM_TIMED_OUT = (504, "The upstream took too long to answer.")
    UPSTREAM_INVALID = (502, "The upstream's answer is not of its dialect.")
    UPSTREAM_PAUSED = (503, "The platform makes no calls to this upstream for now.")
    STOPPED = (503, "The episode is over.")
    GATEWAY_FAILED = (500, "The gateway failed; the platform has been told.")

    @property
    def status(self) -> int:
        status: int = self.value[0]
        return status

    @property
    def code(self) -> str:
        return self.name.lower()


class Refusal(Exception):
    """Why no model answers; `field` is the place in the request, where there is one."""

    def __init__(self, code: Code, field: str = "") -> None:
        super().__init__(code.code)
        self.code, self.field = code, field

    @property
    def message(self) -> str:
        sentence: str = self.code.value[1]
        return f"{sentence} Field: {self.field}" if self.field else sentence

    @property
    def headers(self) -> list[tuple[str, str]]:
        """For clients that would try again what cannot succeed (both official clients read it)."""
        return [("x-should-retry", "false")] if self.code is Code.BUDGET_EXHAUSTED else []


def content(refusal: Refusal, dialect: Dialect | None) -> dict[str, Any]:
    """The error as the dialect's clients expect it; without a dialect, as OpenAI's do."""
    status = refusal.code.status
    if dialect is Dialect.ANTHROPIC_MESSAGES:
        kind = ANTHROPIC_TYPES.get(status, "api_error")
        error = {"type": kind, "message": refusal.message, "code": refusal.code.code}
        return {"type": "error", "error": error}
    kind = OPENAI_TYPES.get(status, "server_error")
    return {
        "error": {
            "message": refusal.message,
            "type": kind,
            "param": refusal.field or None,
            "code": refusal.code.code,
        }
    }


def event(refusal: Refusal, dialect: Dialect) -> bytes:
    """The same inside a stream that had begun."""
    if dialect is Dialect.OPENAI_RESPONSES:
        body = {
            "type": "error",
            "code": refusal.code.code,
            "message": refusal.message,
            "param": None,
            "sequence_number": 0,
        }
    else:
        body = content(refusal, dialect)
    name = b"" if dialect is Dialect.OPENAI_CHAT else b"event: error\n"
    return name + b"data: " + json.dumps(body).encode() + b"\n\n"
