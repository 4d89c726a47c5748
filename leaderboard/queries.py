"""Reads for public pages and for the frame around every page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from benchmark.models import Domain, Group, PublicTask, TaskSetVersion
from config import clock
from governance import ledger
from governance.models import ReleasePolicy
from governance.queries import current_policy
from leaderboard.times import span
from submissions.models import QuotaPolicy
from submissions.queries import open_task_sets


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

    @property
    def shown(self) -> str:
        """The value as people read it: a duration in its largest unit, everything else as a number."""
        is_duration = self.rule == QuotaPolicy.Rule.COOLDOWN_SECONDS.value and self.value
        return span(self.value) if is_duration else str(self.value)


def current_version() -> TaskSetVersion | None:
    """The newest frozen version that is open to submissions."""
    return next(iter(open_task_sets()), None)


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
                label=_label(rule),
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


def _label(rule: QuotaPolicy.Rule) -> str:
    """What a rule is called where its value is printed with its own unit."""
    is_duration = rule is QuotaPolicy.Rule.COOLDOWN_SECONDS
    return _("time between admissions of one harness") if is_duration else str(rule.label)


def rules_in_force(rows: Iterable[PolicyRow]) -> dict[str, int]:
    return {row.rule: row.value for row in rows if row.in_force}


def preflights_in_force(version: TaskSetVersion | None = None) -> int | None:
    """How many preflights one harness has in seven days under the policy of the open version; None without one."""
    version = version or current_version()
    return rules_in_force(policy_rows(version)).get(QuotaPolicy.Rule.PREFLIGHT.value) if version else None


def policy_summary() -> PolicySummary | None:
    """The open version and whether its policy is a demo; None where none is open."""
    version = current_version()
    if version is None:
        return None
    ruling = [row for row in policy_rows(version) if row.in_force]
    release = current_policy(version)
    is_demo = any(row.profile == QuotaPolicy.Profile.DEMO for row in ruling)
    is_demo |= release is not None and release.profile == ReleasePolicy.Profile.DEMO
    return PolicySummary(
        version.label, is_demo, demo_banner(rules_in_force(ruling), release) if is_demo else ""
    )


def demo_banner(rules: dict[str, int], release: ReleasePolicy | None) -> str:
    """One sentence: what the demo policy makes different."""
    seconds = rules.get(QuotaPolicy.Rule.COOLDOWN_SECONDS.value, 0)
    cooldown = span(seconds) if seconds else "0"
    if release is None:
        return _("Demo policy: cooldown %(cooldown)s.") % {"cooldown": cooldown}
    facts = {"cooldown": cooldown, "tick": release.tick_seconds}
    return _("Demo policy: cooldown %(cooldown)s, release every %(tick)s s.") % facts


def release_rules(version: TaskSetVersion) -> list[tuple[str, str]]:
    """The release policy in force as (what, value) pairs; empty where none was set."""
    policy = current_policy(version)
    if policy is None:
        return []
    counted = []
    if policy.fewest_changed is not None and policy.budget_millibits is not None:
        least = _("a value of its own from %(n)s changed tasks of a domain on") % {"n": policy.fewest_changed}
        counted = [
            (_("Near-duplicate gate"), least),
            (
                _("Information budget"),
                _("%(amount)s bits") % {"amount": ledger.bits(policy.budget_millibits)},
            ),
        ]
    return [
        (_("Policy"), str(policy.get_profile_display())),
        (_("Rule"), str(policy.get_rule_display())),
        (_("Grid"), _("%(n)s point") % {"n": policy.grid_points}),
        (_("Release tick"), _("every %(n)s s") % {"n": policy.tick_seconds}),
        (_("Correlation within a task family (ρ)"), str(policy.rho)),
        *counted,
    ]


def public_tasks(version: TaskSetVersion, *, domain: str = "") -> list[PublicTask]:
    """The public group, or its tasks of one domain, in order of id."""
    rows = PublicTask.objects.filter(version=version)
    if domain:
        rows = rows.filter(domain=domain)
    order = {value: at for at, value in enumerate(Domain.values)}
    return sorted(rows, key=lambda row: (order.get(row.domain, len(order)), row.slug))


def public_task(version: TaskSetVersion, slug: str) -> PublicTask | None:
    return PublicTask.objects.filter(version=version, slug=slug).first()
