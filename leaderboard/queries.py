"""Reads for public pages and for the frame around every page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from benchmark.models import Domain, Group, PublicTask, TaskSetVersion
from config import clock
from leaderboard.times import span
from submissions.models import QuotaPolicy


@dataclass(frozen=True)
class DomainCount:
    """How many tasks of a domain are public and how many are held out."""

    domain: str
    label: str
    public: int
    held_out: int

    @property
    def total(self) -> int:
        return self.public + self.held_out


@dataclass(frozen=True)
class PolicySummary:
    """What the frame of a page says about the policy of the open task-set version."""

    version: str
    is_demo: bool
    banner: str


@dataclass(frozen=True)
class PolicyRow:
    """One policy row as the rules page prints it."""

    rule: str
    label: str
    value: int
    profile: str
    profile_label: str
    valid_from: datetime
    in_force: bool
    is_future: bool


def current_version() -> TaskSetVersion | None:
    """The newest frozen version that is open to submissions."""
    rows = TaskSetVersion.objects.filter(state=TaskSetVersion.State.FROZEN, opened_at__isnull=False)
    return rows.filter(closed_at__isnull=True).order_by("-opened_at").first()


def domain_counts(version: TaskSetVersion) -> list[DomainCount]:
    """By domain, in the order of the benchmark, from what was recorded when the version was frozen."""
    found = []
    for domain in Domain:
        groups = version.composition.get(domain.value, {}).get("groups", {})
        public, held_out = groups.get(Group.PUBLIC.value, 0), groups.get(Group.HELD_OUT.value, 0)
        found.append(DomainCount(domain.value, str(domain.label), public, held_out))
    return found


def policy_rows(version: TaskSetVersion) -> list[PolicyRow]:
    """Every policy row of the version, by rule, newest first; the one in force is marked."""
    now = clock.now()
    found: list[PolicyRow] = []
    rows = list(QuotaPolicy.objects.filter(task_set=version).order_by("rule", "-valid_from"))
    for rule in QuotaPolicy.Rule:
        ours = [row for row in rows if row.rule == rule.value]
        ruling = next((row for row in ours if row.valid_from <= now), None)
        found += [
            PolicyRow(
                rule=row.rule,
                label=str(rule.label),
                value=row.value,
                profile=row.profile,
                profile_label=str(QuotaPolicy.Profile(row.profile).label),
                valid_from=row.valid_from,
                in_force=row is ruling,
                is_future=row.valid_from > now,
            )
            for row in ours
        ]
    return found


def rules_in_force(rows: Iterable[PolicyRow]) -> dict[str, int]:
    return {row.rule: row.value for row in rows if row.in_force}


def policy_summary() -> PolicySummary | None:
    """The open version and whether its policy is a demo; None where none is open."""
    version = current_version()
    if version is None:
        return None
    ruling = [row for row in policy_rows(version) if row.in_force]
    is_demo = any(row.profile == QuotaPolicy.Profile.DEMO for row in ruling)
    return PolicySummary(version.label, is_demo, demo_banner(rules_in_force(ruling)) if is_demo else "")


def demo_banner(rules: dict[str, int]) -> str:
    """One sentence: what the demo policy makes different."""
    seconds = rules.get(QuotaPolicy.Rule.COOLDOWN_SECONDS.value, 0)
    return _("Demo policy: cooldown %(cooldown)s.") % {"cooldown": span(seconds) if seconds else "0"}


def public_tasks(version: TaskSetVersion, *, domain: str = "") -> list[PublicTask]:
    """The public group, or its tasks of one domain, in order of id."""
    rows = PublicTask.objects.filter(version=version)
    if domain:
        rows = rows.filter(domain=domain)
    order = {value: at for at, value in enumerate(Domain.values)}
    return sorted(rows, key=lambda row: (order.get(row.domain, len(order)), row.slug))


def public_task(version: TaskSetVersion, slug: str) -> PublicTask | None:
    return PublicTask.objects.filter(version=version, slug=slug).first()
