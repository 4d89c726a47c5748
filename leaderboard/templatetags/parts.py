"""Small components of every page: icons, badges, times, meters, interval charts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from accounts.models import ApiToken
from evaluation.upstreams.models import Exposure
from governance import ledger
from leaderboard import charts, grades, icons, statuses, times, words
from submissions.policies import Counter

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    return icons.svg(name)


@register.simple_tag
def badge(kind: str, state: str) -> SafeString:
    """Icon, word and colour of a state, as `leaderboard.statuses` lists it."""
    look = statuses.look(kind, str(state))
    return format_html(
        '<span class="status status-{}">{}{}</span>', look.tone, icons.svg(look.icon), look.word
    )


@register.simple_tag(takes_context=True)
def moment(context: template.Context, at: datetime | None, *, relative: bool = False) -> SafeString:
    """An instant in the viewer's zone with its offset; UTC in the title. A dash where there is none."""
    if at is None:
        return SafeString("–")
    zone = times.zone_of(context.get("request"))
    text = times.local(at, zone)
    shown = format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), times.utc(at), text)
    if not relative:
        return shown
    around = _(" (%(text)s)") % {"text": times.relative(at)}
    return format_html('{}<span class="relative">{}</span>', shown, around)


@register.inclusion_tag("components/meter.html")
def meter(
    label: str, limit: int, used: int, held: int = 0, note: str = "", *, bites: bool = False
) -> dict[str, Any]:
    """How much of an allowance is used: a drawn bar and the same in words."""
    return {
        "label": label,
        "limit": limit,
        "used": used,
        "held": held,
        "left": max(0, limit - used - held),
        "full": limit <= used + held,
        "note": note,
        "bites": bites,
        "drawing": charts.meter(limit=limit, used=used, held=held),
    }


@register.inclusion_tag("components/interval.html")
def interval_chart(rows: Sequence[charts.Row], title: str, name: str = "chart") -> dict[str, Any]:
    """The chart twice: for wide pages and print, and for narrow ones; only one is displayed."""
    return {
        "wide": charts.chart(rows, title=title, frame=charts.WIDE, name=f"{name}-wide"),
        "narrow": charts.chart(rows, title=title, frame=charts.NARROW, name=f"{name}-narrow"),
    }


@register.simple_tag
def interval_strip(row: charts.Row) -> SafeString:
    return charts.strip(row)


SCOPES = (ApiToken.Scope.READ, ApiToken.Scope.PREFLIGHT, ApiToken.Scope.SUBMIT)
ADDRESS = re.compile(r"(?:GET )?(/api/v1/[\w./-]*\w)")


@register.filter
def marked(text: object) -> SafeString:
    """Plain text with `code` between backticks set as code, and addresses that can be read made links."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:  # an odd backtick is a backtick
        parts = [*parts[:-2], f"{parts[-2]}`{parts[-1]}"]
    pieces = [
        format_html("<code>{}</code>", part) if at % 2 else _linked(part) for at, part in enumerate(parts)
    ]
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def _linked(text: str) -> SafeString:
    """Addresses of the API that answer a GET as links; `POST /…` and the like stay text."""
    found, last = [], 0
    for match in ADDRESS.finditer(text):
        if re.search(r"[A-Z] $", text[: match.start()]):
            continue
        found.append(format_html('{}<a href="{}">{}</a>', text[last : match.start()], match[1], match[1]))
        last = match.end()
    return format_html("{}{}", format_html_join("", "{}", ((piece,) for piece in found)), text[last:])


@register.filter
def short(digest: str) -> str:
    """The first twelve characters of a digest."""
    return str(digest)[:12]


@register.simple_tag
def no_date(reason: str) -> Any:
    """Why there is no instant from which it would be allowed, in words."""
    return statuses.NO_DATE.get(str(reason), reason)


@register.simple_tag
def scopes(values: Sequence[str]) -> str:
    """A token's scopes in words."""
    return pgettext("list", ", ").join(str(scope.label) for scope in SCOPES if scope.value in values)


@register.inclusion_tag("components/meter.html")
def counter_meter(counter: Counter, biting: Counter | None) -> dict[str, Any]:
    """A meter of one rule of a quota window; the one that decides is marked."""
    label = str(statuses.COUNTERS.get(counter.rule.value, counter.rule.value))
    held = counter.reserved
    note = str(statuses.NO_DATE[counter.next_allowed_reason.value]) if counter.next_allowed_reason else ""
    context: dict[str, Any] = meter(
        label,
        counter.limit,
        counter.used - held,
        held,
        note,
        bites=biting is not None and counter.rule == biting.rule,
    )
    return {**context, "at": counter.next_allowed_at, "returned": counter.refunded}


@register.simple_tag
def bits(millibits: int) -> str:
    """An amount of information, with one decimal."""
    return _("%(amount)s bits") % {"amount": ledger.bits(millibits)}


@register.simple_tag
def failure_type(value: str) -> Any:
    """A failure type from the closed list, in words."""
    return statuses.FAILURES.get(value, value) if value else "–"


@register.simple_tag
def profile(value: str) -> Any:
    """The name of a policy profile."""
    return statuses.PROFILES.get(value, value)


@register.simple_tag
def component(name: str) -> Any:
    """What a versioned part of an evaluation is called."""
    return statuses.COMPONENTS.get(name, name)


@register.simple_tag
def duration(value: timedelta) -> str:
    """A duration in its largest fitting unit."""
    return times.span(value.total_seconds())


@register.simple_tag
def episode_state(value: str) -> Any:
    """An episode's state as staff read it."""
    return statuses.EPISODES.get(value, value)


@register.simple_tag
def rule_reason(value: str) -> Any:
    """Why a rule item has its score."""
    return statuses.RULE_REASONS.get(value, value) if value else "–"


@register.simple_tag
def isolation_grade(value: str) -> Any:
    """The grade of isolation that a worker claims, or the root that a run stood on."""
    backend, comma, root = value.rpartition(", ")
    kind, _, digest = root.rpartition(" ")
    if kind in grades.ROOTS:
        return f"{backend}{comma}{grades.ROOTS[kind] % {'digest': digest}}"
    return grades.ISOLATION.get(value, value)


@register.simple_tag
def speed_class(value: str) -> Any:
    """How fast a host is against the reference."""
    return grades.SPEEDS.get(value, value) if value else "–"


@register.simple_tag
def exposure_class(value: str) -> Any:
    """Who can read the prompts that go to a model."""
    return Exposure(value).label


@register.simple_tag
def held_out_refusal(value: str) -> Any:
    """Why a worker takes no held-out work."""
    return grades.HELD_OUT_REFUSALS.get(value, value)


@register.simple_tag
def probe_place(value: str) -> Any:
    """Which sandbox a probe ran in."""
    return statuses.SANDBOXES.get(value, value) if value else "–"


@register.filter
def classified(value: str) -> str:
    """A domain, a category or what a profile holds, in words; also `domain/category`."""
    return words.classified(value)


@register.filter
def stratum(parts: Sequence[Any]) -> str:
    """A stratum without its domain, in words."""
    return words.stratum(parts)


@register.filter
def failed_check(name: str) -> str:
    """A check of a rotation plan that does not hold, in words."""
    return words.failed_check(name)


@register.filter
def grouping(value: str) -> Any:
    """By what metadata a change is explained, in words."""
    return words.GROUPINGS.get(value, value)


@register.filter
def link_ground(value: str) -> Any:
    """What two lineages have in common, in words."""
    return words.GROUNDS.get(value, value)
