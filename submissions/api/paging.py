"""Pages of lists: `?cursor=&limit=` asks, `next` in the body and the Link header lead on. A cursor means one row."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from submissions.api.serializers import StrictSerializer
from submissions.api.versioning import add_link

Row = TypeVar("Row")
LONGEST = 100
USUAL = 50
NOT_ONE = _("not a cursor that this list has given")


class CursorField(serializers.Field):  # type: ignore[type-arg]
    """The row after which a page begins, as this site wrote it."""

    default_error_messages = {"cursor": NOT_ONE}  # noqa: RUF012 - the framework's own spelling

    def to_internal_value(self, data: Any) -> UUID:
        text = str(data)
        try:
            found = UUID(bytes=base64.urlsafe_b64decode(f"{text}=="))
        except (ValueError, binascii.Error):  # also where it has letters beyond ASCII
            self.fail("cursor")
        if cursor_of(found) != text:
            self.fail("cursor")
        return found


class PageIn(StrictSerializer):
    """The query of a list without filters."""

    cursor = CursorField(required=False)
    limit = serializers.IntegerField(min_value=1, max_value=LONGEST, default=USUAL)


PAGED = [
    OpenApiParameter(
        "cursor", str, description="From `next` of the page before.", pattern="^[A-Za-z0-9_-]{22}$"
    ),
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": LONGEST, "default": USUAL},
        description="Rows a page.",
    ),
]


def cursor_of(row: UUID) -> str:
    return base64.urlsafe_b64encode(row.bytes).decode().rstrip("=")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Some rows, and the cursor of the last one where more follow."""

    rows: Sequence[Row]
    following: UUID | None


def asked(request: Request, kind: type[PageIn] = PageIn) -> dict[str, Any]:
    """The validated query; raises ValidationError."""
    query = kind(data=request.query_params.dict())
    query.is_valid(raise_exception=True)
    found: dict[str, Any] = query.validated_data
    return found


def cut(rows: Sequence[Row], limit: int, identity: Callable[[Row], UUID]) -> Page[Row]:
    """A page of what was read with one row more than `limit`."""
    kept = rows[:limit]
    return Page(kept, identity(kept[-1]) if len(rows) > limit else None)


def after(rows: Sequence[Row], query: Mapping[str, Any], identity: Callable[[Row], UUID]) -> Page[Row]:
    """A page of a list that is short enough to be read whole; a cursor that is not in it raises ValidationError."""
    begin = 0
    if cursor := query.get("cursor"):
        places = [at for at, row in enumerate(rows) if identity(row) == cursor]
        if not places:
            raise serializers.ValidationError({"cursor": [NOT_ONE]})
        begin = places[0] + 1
    return cut(rows[begin : begin + query["limit"] + 1], query["limit"], identity)


def answer(request: Request, name: str, shown: Any, page: Page[Any]) -> Response:
    """The rows under `name`, and where it goes on."""
    address = next_address(request, page)
    found = Response({name: shown, "next": address})
    if address:
        add_link(found, address, "next")
    return found


def next_address(request: Request, page: Page[Any]) -> str | None:
    """The same list with the same filters from the next row on; None at the end."""
    if page.following is None:
        return None
    query = {
        name: value for name, value in request.query_params.dict().items() if name not in ("cursor", "before")
    }
    return f"{request.path}?{urlencode({**query, 'cursor': cursor_of(page.following)})}"
