"""The mark of every view that hands out governed content, and the one way to hand it out: recorded, or not at all.

A view marked `@delivers(kind)` that answers with content without having called `hand_out` or `show_status` fails, so
that none can forget it; where the log cannot take the read, the answer is 503 `read_not_recorded` and nothing else.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from audit import reads
from audit.events import Actor
from submissions.problems import Code, Refusal, Refused, refuse
from submissions.problems.refusal import SOON

logger = logging.getLogger(__name__)
View = TypeVar("View", bound=Callable[..., Any])

RECORDED = frozenset(
    {"result", "preflight", "card", "receipt", "entry", "audit_room", "comparison", "held_out", "case"}
    | {"registration", "evidence", "link", "appeal", "recheck", "problem"}
    | {"rotation", "rotation_plan"}
)
"""Each delivery of these is an event of its own: released values, runs on public tasks, filed cards, receipts, entries
of the log, single results in an audit room, registered data and their evidence,
cases of linked accounts, appeals, problems of tasks; and what later areas bring:
comparisons, held-out content, pages of rotation cases. Exports of the log are recorded by `audit.exports`."""
POLLED = frozenset({"submission", "quota"})
"""Coarse state and quota statements: an event when they are new to the reader, the rest is counted."""
KINDS = RECORDED | POLLED

PRECISION = "value ± h on the 1-point grid"
"""How exactly a released result is delivered."""
METHODS = ("get", "post", "put", "patch", "delete")


class Undeclared(RuntimeError):
    """A marked view answered without saying what it hands out, or handed out what it is not marked for."""


def delivers(*kinds: str) -> Callable[[View], View]:
    """Mark a view function or class: `@delivers("result")`. The first kind is found again with `delivery_of`."""
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of delivery; it is one of {', '.join(sorted(KINDS))}")

    def mark(view: View) -> View:
        if isinstance(view, type):
            for name in METHODS:
                if method := getattr(view, name, None):
                    setattr(view, name, _checked_method(method, frozenset(kinds)))
            marked: Any = view
        else:
            marked = _checked_page(view, frozenset(kinds))
        marked.delivers = kinds[0]
        return marked  # type: ignore[no-any-return]

    return mark


def delivery_of(view: Callable[..., Any]) -> str | None:
    """The kind that a view is marked with; looks through `as_view()` wrappers."""
    for candidate in (view, getattr(view, "view_class", None), getattr(view, "cls", None)):
        kind = getattr(candidate, "delivers", None)
        if isinstance(kind, str):
            return kind
    return None


def hand_out(
    request: Any, kind: str, subject: UUID | str, form: object, *, by: Actor, precision: str = ""
) -> None:
    """Record the delivery of `form`, a text or what becomes JSON. Raises Refused (read_not_recorded)."""
    _note(request, kind)
    surface = surface_of(request)
    _recorded(lambda: reads.record(kind, subject, _text(form), surface=surface, by=by, precision=precision))


def show_status(request: Any, kind: str, subject: tuple[str, UUID | str], form: object, *, by: Actor) -> None:
    """Record or count that a state is shown, `subject` being its type and id. Raises Refused (read_not_recorded).

    `form` holds whatever of the page or answer can change, and no time that passes by itself.
    """
    _note(request, kind)
    surface = surface_of(request)
    _recorded(lambda: reads.poll(subject[0], subject[1], _text(form), surface=surface, by=by))


def restates_the_request(request: Any) -> None:
    """Say that an answer holds nothing but what the write just recorded, so that reading it is no event."""
    _plain(request).handed_out = True


def surface_of(request: Any) -> str:
    """The name of the address that answers."""
    match = _plain(request).resolver_match
    return str(match.view_name) if match else ""


def not_recorded_page(request: HttpRequest) -> HttpResponse:
    """The page in place of one whose reading could not be recorded."""
    refusal = Refusal(Code.READ_NOT_RECORDED)
    answer = render(request, "submissions/not_recorded.html", {"problem": refusal}, status=refusal.status)
    answer["Retry-After"] = str(SOON[refusal.code])
    return answer


def _recorded(write: Callable[[], None]) -> None:
    try:
        write()
    except Exception as error:  # whatever it is, nothing may be delivered
        logger.exception("a read could not be recorded")
        raise refuse(Code.READ_NOT_RECORDED) from error


def _text(form: object) -> str:
    if isinstance(form, str):
        return form
    return json.dumps(form, cls=DjangoJSONEncoder, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _plain(request: Any) -> Any:
    """Django's request, also below the API framework's."""
    return getattr(request, "_request", request)


def _note(request: Any, kind: str) -> None:
    plain = _plain(request)
    if kind not in getattr(plain, "delivering", ()):
        raise Undeclared(f"{surface_of(request)} is not marked to deliver {kind}")
    plain.handed_out = True


def _checked(request: Any, kinds: frozenset[str], answer: Callable[[], HttpResponse]) -> HttpResponse:
    plain = _plain(request)
    plain.delivering, plain.handed_out = kinds, False
    found = answer()
    if 200 <= found.status_code < 300 and not plain.handed_out:
        raise Undeclared(f"{surface_of(request)} did not say what it delivers")
    return found


def _checked_page(view: Callable[..., HttpResponse], kinds: frozenset[str]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return _checked(request, kinds, lambda: view(request, *args, **kwargs))
        except Refused as refused:
            if refused.refusal.code is not Code.READ_NOT_RECORDED:
                raise
            return not_recorded_page(request)

    return checked


def _checked_method(method: Callable[..., Any], kinds: frozenset[str]) -> Callable[..., Any]:
    @wraps(method)
    def checked(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        return _checked(request, kinds, lambda: method(self, request, *args, **kwargs))

    return checked
