"""The few line icons of the site, as SVG path data on a 16 × 16 grid. Always beside a word, never alone."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

PATHS: dict[str, str] = {
    "check": '<circle cx="8" cy="8" r="6.25"/><path d="m5.25 8.25 2 2 3.5-4"/>',
    "cross": '<circle cx="8" cy="8" r="6.25"/><path d="m5.75 5.75 4.5 4.5m0-4.5-4.5 4.5"/>',
    "clock": '<circle cx="8" cy="8" r="6.25"/><path d="M8 4.5V8l2.25 1.5"/>',
    "ring": '<circle cx="8" cy="8" r="6.25"/>',
    "half": '<circle cx="8" cy="8" r="6.25"/><path d="M8 1.75a6.25 6.25 0 0 1 0 12.5z" fill="currentColor"/>',
    "warning": '<path d="M8 2 14.5 13.5h-13z"/><path d="M8 6.5v3.25M8 11.5v.25"/>',
    "info": '<circle cx="8" cy="8" r="6.25"/><path d="M8 7.5v4M8 4.75V5"/>',
    "pause": '<circle cx="8" cy="8" r="6.25"/><path d="M6.5 5.75v4.5m3-4.5v4.5"/>',
    "stop": '<circle cx="8" cy="8" r="6.25"/><path d="M3.75 12.25l8.5-8.5"/>',
    "bell": '<path d="M3.5 11.5h9l-1.25-2V6.75a3.25 3.25 0 0 0-6.5 0V9.5zM6.75 13.5h2.5"/>',
    "lock": '<rect x="3.25" y="7" width="9.5" height="6.75" rx="1"/><path d="M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2"/>',
    "question": '<circle cx="8" cy="8" r="6.25"/>'
    '<path d="M6.25 6.25a1.75 1.75 0 1 1 2.5 1.6c-.5.25-.75.6-.75 1.15M8 11.25v.25"/>',
}


def svg(name: str) -> SafeString:
    """The icon, hidden from screen readers because the word beside it says the same. Raises KeyError."""
    return format_html(
        '<svg class="icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" '
        'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">{}</svg>',
        mark_safe(PATHS[name]),  # noqa: S308 - constants of this module
    )
