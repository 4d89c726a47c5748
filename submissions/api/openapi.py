"""What the OpenAPI description needs besides the views: every answer an operation may give, with its headers."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from submissions.api.shapes import ProblemOut
from submissions.problems.handler import MEDIA_TYPE

CREATES = [
    OpenApiParameter(
        "Idempotency-Key",
        {"type": "string", "pattern": "^[!-~]{1,255}$"},
        OpenApiParameter.HEADER,
        required=True,
        description="1 to 255 printable ASCII characters, new for each thing you want done; kept for 30 days.",
    )
]

SAID = {
    400: "The body is no JSON object, or a header is wrong.",
    401: "No credential, or one that is not accepted.",
    403: "The credential, the organisation or a rule does not permit it.",
    404: "Nothing here that the caller may see.",
    406: "The API answers in JSON only.",
    409: "It does not fit what is there already.",
    413: "The body is too large.",
    415: "The API reads JSON only.",
    422: "A field is missing or wrong.",
    429: "Too many requests, or a quota is used up.",
    500: "The platform failed.",
    503: "A part of the platform does not answer.",
}
ALWAYS = (406, 429, 500, 503)
HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "RateLimit-Limit": ({"type": "integer"}, "Requests a minute."),
    "RateLimit-Remaining": ({"type": "integer"}, "What is left of them."),
    "RateLimit-Reset": ({"type": "integer"}, "Seconds until all are there again."),
    "Retry-After": ({"type": "integer", "minimum": 1}, "Seconds; waiting that long is enough."),
    "ETag": ({"type": "string"}, "A weak tag for If-None-Match."),
    "Link": ({"type": "string"}, "The next page (rel=next); what is deprecated (rel=deprecation)."),
    "Deprecation": (
        {"type": "string"},
        "Since when something that the request used is deprecated (RFC 9745).",
    ),
    "Sunset": ({"type": "string"}, "Until when it works (RFC 8594)."),
}
RATES = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
LEADS: dict[tuple[str, str], dict[str, tuple[str, str]]] = {
    ("harness_create", "201"): {
        "harness": ("harness", "harness_id"),
        "versions": ("version_create", "harness_id"),
    },
    ("version_create", "201"): {"version": ("version", "version_id")},
    ("upload_create", "201"): {
        "upload": ("upload", "upload_id"),
        "complete": ("upload_complete", "upload_id"),
        "abort": ("upload_abort", "upload_id"),
    },
    ("submission_create", "202"): {
        "submission": ("submission", "submission_id"),
        "cancel": ("submission_cancel", "submission_id"),
        "receipt": ("receipt", "submission_id"),
        "result": ("result", "submission_id"),
    },
}
"""Where an answer leads: by operation and status, the next operation and the parameter that takes the answer's id."""


def problems(responses: dict[Any, Any]) -> dict[Any, Any]:
    """`responses`, and for everything else one problem shape."""
    return {**responses, ("4XX", MEDIA_TYPE): ProblemOut, ("5XX", MEDIA_TYPE): ProblemOut}


OBJECT = problems({200: OpenApiTypes.OBJECT})
"""An answer whose members the view's own words describe."""


def complete(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular's last step: answers by status, headers and links, the same for every operation."""
    components = result.setdefault("components", {})
    components["headers"] = {
        name: {"schema": schema, "description": said} for name, (schema, said) in HEADERS.items()
    }
    components["responses"] = {f"Problem{status}": _problem(status) for status in SAID}
    components["responses"]["NotModified"] = {
        "description": "What the client has still holds.",
        "headers": _headers(*RATES, "ETag"),
    }
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            _complete(operation, method, has_place="{" in path)
    return result


def _problem(status: int) -> dict[str, Any]:
    names = [*RATES, *(["Retry-After"] if status in (429, 503) else [])]
    return {
        "description": SAID[status],
        "headers": _headers(*names),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemOut"}}},
    }


def _headers(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _complete(operation: dict[str, Any], method: str, *, has_place: bool) -> None:
    responses = operation["responses"]
    parameters = operation.get("parameters", [])
    is_list = any(row["name"] == "cursor" for row in parameters)
    for status, answer in responses.items():
        if status.isdigit():
            extra = ["ETag"] if method == "get" else []
            extra += ["Link", "Deprecation", "Sunset"] if is_list else []
            answer["headers"] = {**answer.get("headers", {}), **_headers(*RATES, *extra)}
            _lead(operation["operationId"], status, answer)
    for status in _statuses(operation, method, has_place):
        responses.setdefault(str(status), {"$ref": f"#/components/responses/Problem{status}"})
    if method == "get":
        responses.setdefault("304", {"$ref": "#/components/responses/NotModified"})


def _lead(name: str, status: str, answer: dict[str, Any]) -> None:
    leads = LEADS.get((name, status))
    if leads:
        answer["links"] = {
            word: {"operationId": following, "parameters": {place: "$response.body#/id"}}
            for word, (following, place) in leads.items()
        }


def _statuses(operation: dict[str, Any], method: str, has_place: bool) -> list[int]:
    """Every error that an operation of its kind can answer with."""
    found = set(ALWAYS)
    takes_query = any(row["in"] == "query" for row in operation.get("parameters", []))
    if operation.get("security"):
        found |= {401, 403}
    if has_place:
        found.add(404)
    if method != "get":
        found.add(409)
    if "requestBody" in operation:
        found |= {400, 413, 415, 422}
    if takes_query:
        found.add(422)
    return sorted(found)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer lgb_…`."""

    target_class = "accounts.authentication.ApiTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class CiScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer lgb_ci_…`, as POST oidc/exchange gives it."""

    target_class = "accounts.publishing.authentication.CiAuthentication"
    name = "ci"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A signed-in browser."""

    target_class = "accounts.authentication.LiveSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
