"""What every page shows around its content: areas, languages, versions, the viewer's zone, the request's id.

Built once per request, from the request; a page outside a request (a mail, an error of last resort) gets none.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse, translate_url
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.access import CONSOLE_ROLES
from accounts.auditors import term_of
from accounts.duties.policies import takes_part
from accounts.duties.queries import duties_of
from accounts.duties.table import Decision, Duty
from accounts.notices.queries import unread_count
from accounts.queries import membership_of
from governance.appeals.services.deciding import SEE_HELD_OUT
from governance.records.problems import policies as problems
from leaderboard import times
from leaderboard.queries import PolicySummary, policy_summary

logger = logging.getLogger(__name__)
ATTRIBUTE = "_site"
EXACT_AREAS = frozenset({"leaderboard:overview"})
DECIDED = {
    "console:returns": Decision.QUOTA_GRANT,
    "console:packages": Decision.UNBLINDING,
    "console:links": Decision.IDENTITY,
    "console:rooms": Decision.AUDIT_ROOM,
    "watching:gaps": Decision.HOLD,
    "signals:signals": Decision.OPERATOR_CASE,
    "rotating:queue": Decision.RETIREMENT,
    "rotating:stock": Decision.RETIREMENT,
    "judging:appeals": Decision.APPEAL,
}
"""Pages of the console about a decision, which other staff do not have."""
KEPT = {"console:platform_upstreams": Duty.EVALUATION_ENGINEER}
"""Pages of what the holders of one duty keep."""
SEEN = {
    "problem_queue:queue": problems.SEE,
    "judging:opinions": frozenset({Duty.TASK_AUTHOR}),
    "judging:rechecks": SEE_HELD_OUT,
}
"""Pages of what is held out, for the holders of any of these duties."""
EXACT_PAGES = frozenset({"leaderboard:home", "console:submissions", "auditing:explorer"})

BESIDE = {
    "submissions:harnesses": ("/v/versions/",),
    "submissions:submissions": ("/v/uploads/", "/v/questions/"),
    "signals:signals": ("/console/holds/", "/console/hold-decisions/"),
}
"""Parts of addresses that belong to a page of the sidebar without lying below it."""


@cache
def site_version() -> str:
    """The version of this site, from the project file."""
    for line in (Path(settings.ROOT) / "pyproject.toml").read_text("utf-8").splitlines():
        if line.startswith("version = "):
            return line.split('"')[1]
    return "unversioned"


@dataclass(frozen=True)
class Link:
    url: str
    text: str
    current: bool = False


@dataclass(frozen=True)
class LanguageLink:
    code: str
    name: str
    url: str
    current: bool


class Site:
    """Everything around a page, each part worked out only when the template asks for it."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @cached_property
    def languages(self) -> list[LanguageLink]:
        """The same page and query in each language."""
        here = self.request.get_full_path()
        names = {"zh-hans": "简体中文", "en": "English"}
        return [
            LanguageLink(code, names.get(code, code), translate_url(here, code), code == get_language())
            for code, _name in settings.LANGUAGES
        ]

    @property
    def html_language(self) -> str:
        return {"zh-hans": "zh-Hans"}.get(get_language() or "", get_language() or "en")

    @cached_property
    def is_person(self) -> bool:
        user = getattr(self.request, "user", None)
        return bool(user is not None and user.is_authenticated and not getattr(user, "is_suspended", False))

    @cached_property
    def organisation(self) -> Any:
        """The viewer's organisation, or None."""
        if not self.is_person:
            return None
        membership = membership_of(self.request.user)  # type: ignore[arg-type]
        return membership.organisation if membership else None

    @cached_property
    def unread(self) -> int:
        """How many notices the viewer has not read."""
        return unread_count(self.request.user) if self.is_person else 0  # type: ignore[arg-type]

    @cached_property
    def is_auditor(self) -> bool:
        """Whether this process has the auditors' pages, and this person may open them."""
        return self.is_person and has_console() and term_of(self.request.user) is not None  # type: ignore[arg-type]

    @property
    def has_sign_up(self) -> bool:
        """Whether one can sign up here: not in the console's own process."""
        return settings.LINGEE_ROLE != "console"

    @cached_property
    def areas(self) -> list[Link]:
        """Public pages, and of the other areas only those this person has."""
        found = [("leaderboard:overview", _("Overview")), ("leaderboard:rules", _("Rules"))]
        found.append(("leaderboard:public_tasks", _("Public tasks")))
        if self.organisation is not None and not self.is_auditor:
            found.append(("leaderboard:home", _("Vendor area")))
        if self.is_person and getattr(self.request.user, "is_staff", False) and has_console():
            found.append(("console:submissions", _("Console")))
        if self.is_auditor:
            found.append(("auditing:explorer", _("Audit")))
        links = [self._link(name, text, exact=EXACT_AREAS) for name, text in found]
        return [link for link in links if link.url]

    def _link(self, name: str, text: str, *, exact: frozenset[str]) -> Link:
        """A link, marked where the current address lies at or below it; those of `exact` only at it."""
        try:
            url = reverse(name)
        except NoReverseMatch:
            return Link("", text)
        here = self.request.path
        below = here == url if name in exact else here.startswith(url)
        current = below or any(part in here for part in BESIDE.get(name, ()))
        return Link(url, text, current)

    @cached_property
    def sidebar(self) -> list[Link]:
        """Pages of the area that the current address lies in; empty on public pages and for strangers."""
        parts = self.request.path.split("/")
        area = parts[2] if len(parts) > 2 else ""
        if not self.is_person:
            return []
        links = [
            self._link(name, text, exact=EXACT_PAGES) for name, text in _sidebar(area) if self._may_open(name)
        ]
        # Of two pages of which one lies below the other, the nearer is where one is.
        nearest = max((len(link.url) for link in links if link.current), default=0)
        return [
            replace(link, current=link.current and len(link.url) == nearest) for link in links if link.url
        ]

    @cached_property
    def _duties(self) -> frozenset[Duty]:
        """Nobody's where vendors are served: the database shows them to the console alone."""
        return duties_of(self.request.user) if has_console() else frozenset()  # type: ignore[arg-type]

    def _may_open(self, name: str) -> bool:
        """False for what only those see whose duties decide about it."""
        if name in SEEN:
            return bool(self._duties & SEEN[name])
        if name in KEPT:
            return KEPT[name] in self._duties
        decision = DECIDED.get(name)
        return decision is None or takes_part(self._duties, decision)

    @cached_property
    def policy(self) -> PolicySummary | None:
        """The policy that submissions stand under now; None where no task set is open or no database answers."""
        try:
            return policy_summary()
        except DatabaseError:
            logger.exception("the page frame could not read the policy")
            return None

    @property
    def version(self) -> str:
        return site_version()

    @property
    def request_id(self) -> str:
        return str(structlog.contextvars.get_contextvars().get("request_id", ""))

    @property
    def zone(self) -> str:
        return times.zone_of(self.request).key

    @property
    def zone_offset(self) -> str:
        return times.offset(times.zone_of(self.request))


def _sidebar(area: str) -> list[tuple[str, str]]:
    if area == "v":
        return [
            ("leaderboard:home", _("Home")),
            ("submissions:harnesses", _("Harnesses")),
            ("submissions:submissions", _("Submissions")),
            ("governance:information", _("Information budget")),
            ("appeals:appeals", _("Appeals")),
            ("submissions:upstreams", _("Model upstreams")),
            ("submissions:tokens", _("Tokens")),
            ("submissions:publishers", _("Trusted publishers")),
            ("submissions:webhooks", _("Webhooks")),
            ("accounts:organisation", _("Organisation and account")),
        ]
    if area == "account":
        return [
            ("accounts:organisation", _("Organisation")),
            ("accounts:notices", _("Notices")),
            ("accounts:members", _("Members")),
            ("account_email", _("E-mail addresses")),
            ("account_change_password", _("Password")),
            ("mfa_index", _("Two-step sign-in")),
            ("accounts:sessions", _("Sessions")),
        ]
    if area == "console":
        return [
            ("console:submissions", _("Running submissions")),
            ("console:organisations", _("Organisations to review")),
            ("console:returns", _("Returns of uses")),
            ("console:packages", _("Openings of packages")),
            ("console:owners", _("Owners to be told")),
            ("console:links", _("Linked accounts")),
            ("signals:signals", _("Signals")),
            ("governing:accounts", _("Leak ledger")),
            ("judging:appeals", _("Appeals")),
            ("judging:opinions", _("Opinions on appeals")),
            ("judging:rechecks", _("Runs to judge again")),
            ("problem_queue:queue", _("Problem queue")),
            ("watching:gaps", _("Public and held-out tasks")),
            ("rotating:queue", _("Rotation queue")),
            ("rotating:stock", _("Reserve of tasks")),
            ("console:workers", _("Fleet")),
            ("console:platform_upstreams", _("Model upstreams")),
            ("console:duties", _("Access review")),
            ("console:rooms", _("Audit rooms")),
        ]
    if area == "audit":
        return [
            ("auditing:explorer", _("Events")),
            ("auditing:checkpoints", _("Checkpoints")),
            ("auditing:statistics", _("Statistics")),
            ("auditing:integrity", _("Integrity")),
            ("auditing:exports", _("Exports")),
            ("auditing:rooms", _("Rooms")),
        ]
    return []


def has_console() -> bool:
    """Whether this process serves the staff pages."""
    return settings.LINGEE_ROLE in CONSOLE_ROLES


def of(request: HttpRequest) -> Site:
    """The frame of this request's page."""
    found = getattr(request, ATTRIBUTE, None)
    if found is None:
        found = Site(request)
        setattr(request, ATTRIBUTE, found)
    return found
