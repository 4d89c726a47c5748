"""The page frame's data, for the base template."""

from __future__ import annotations

from django import template

from leaderboard import site

register = template.Library()


@register.simple_tag(takes_context=True)
def page_frame(context: template.Context) -> site.Site | None:
    """The frame of the request's page; None outside a request."""
    request = context.get("request")
    return site.of(request) if request is not None else None
