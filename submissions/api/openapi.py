"""What the OpenAPI description needs besides the views."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter

from submissions.api.serializers import ProblemOut

CREATES = [
    OpenApiParameter(
        "Idempotency-Key",
        str,
        OpenApiParameter.HEADER,
        required=True,
        description="1 to 255 printable ASCII characters, new for each thing you want done; kept for 30 days.",
    )
]


def problems(responses: dict[int, Any]) -> dict[Any, Any]:
    """`responses`, and for everything else one problem shape."""
    return {
        **responses,
        ("4XX", "application/problem+json"): ProblemOut,
        ("5XX", "application/problem+json"): ProblemOut,
    }


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer lgb_…`."""

    target_class = "accounts.authentication.ApiTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A signed-in browser."""

    target_class = "accounts.authentication.LiveSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
