"""Instants as people read them: in the viewer's zone with its offset, in UTC, and relative to now.

The zone is the viewer's choice, kept in a cookie; until they choose, the language's usual one. On auditors' pages it
is UTC: the log, its filters and its exports speak nothing else.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from config import clock

COOKIE = "timezone"
ALWAYS_UTC = "auditing"
"""The namespace of addresses whose pages ignore the choice."""
DEFAULTS = {"zh-hans": "Asia/Shanghai", "en": "UTC"}
SHORT_LIST = (
    "UTC",
    "Asia/Shanghai",
    "Asia/Hong_Kong",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Europe/London",
    "Europe/Berlin",
    "America/New_York",
    "America/Chicago",
    "America/Los_Angeles",
    "Australia/Sydney",
)


@cache
def known_zones() -> tuple[str, ...]:
    """Names a viewer may choose, the common ones first."""
    rest = sorted(
        name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix/"))
    )
    return (*SHORT_LIST, *(name for name in rest if name not in SHORT_LIST))


def zone_of(request: HttpRequest | None) -> ZoneInfo:
    """The viewer's zone; a cookie that names none is ignored."""
    match = getattr(request, "resolver_match", None)
    if match is not None and match.namespace == ALWAYS_UTC:
        return ZoneInfo("UTC")
    chosen = request.COOKIES.get(COOKIE, "") if request is not None else ""
    if chosen in known_zones():
        return ZoneInfo(chosen)
    return ZoneInfo(DEFAULTS.get(get_language() or "", "UTC"))


def offset(zone: ZoneInfo, at: datetime | None = None) -> str:
    """`UTC+08:00`, or plain `UTC`."""
    minutes = int(((at or clock.now()).astimezone(zone).utcoffset() or timedelta()).total_seconds() // 60)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '−'}{hours:02d}:{rest:02d}"


def local(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S} {offset(zone, at)}"


def utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def span(seconds: float) -> str:
    """A duration in its largest fitting unit, rounded down."""
    whole = int(abs(seconds))
    if whole < 60:
        return ngettext("%(n)d second", "%(n)d seconds", whole) % {"n": whole}
    if whole < 3600:
        return ngettext("%(n)d minute", "%(n)d minutes", whole // 60) % {"n": whole // 60}
    if whole < 2 * 86400:
        return ngettext("%(n)d hour", "%(n)d hours", whole // 3600) % {"n": whole // 3600}
    return ngettext("%(n)d day", "%(n)d days", whole // 86400) % {"n": whole // 86400}


def relative(at: datetime) -> str:
    seconds = (at - clock.now()).total_seconds()
    if seconds >= 0:
        return _("in %(span)s") % {"span": span(seconds)}
    return _("%(span)s ago") % {"span": span(seconds)}
