"""The mark of every view that hands out results, so that a reviewer, a test and later the audit find them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

View = TypeVar("View", bound=Callable[..., Any])

KINDS = frozenset({"submission", "preflight", "result", "quota", "receipt"})
"""What a view may deliver: coarse state, public-task results, domain aggregates, quota statements."""


def delivers(kind: str) -> Callable[[View], View]:
    """Mark a view function or class: `@delivers("result")`. The kind is found again with `delivery_of`."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of delivery; it is one of {', '.join(sorted(KINDS))}")

    def mark(view: View) -> View:
        view.delivers = kind  # type: ignore[attr-defined]
        return view

    return mark


def delivery_of(view: Callable[..., Any]) -> str | None:
    """The kind that a view is marked with; looks through `as_view()` wrappers."""
    for candidate in (view, getattr(view, "view_class", None), getattr(view, "cls", None)):
        kind = getattr(candidate, "delivers", None)
        if isinstance(kind, str):
            return kind
    return None
