"""The Held-out Governance Rules as a document: every number from the row or constant that decides, none typed here.

It knows all parts of governance, and none of them knows it. What it says is public: rules and routes, no level of a
detector and nothing about tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.models import TaskSetVersion
from benchmark.profiling import limits
from benchmark.queries import open_versions
from config import clock
from governance import ledger
from governance.appeals import policies as appeals
from governance.confirmation import dating
from governance.confirmation import policies as confirmation
from governance.desk import policies as holds
from governance.desk.rules import RULES
from governance.queries import current_policy
from governance.records.problems import policies as problems
from governance.rotation import policies as rotation
from submissions.models import QuotaPolicy
from submissions.policies import reruns

DAY = 86_400
"""Seconds."""


@dataclass(frozen=True)
class Section:
    """A heading, sentences, and rows of a rule and its value."""

    title: str
    sentences: list[str]
    rows: list[tuple[str, str]]


def sections() -> list[Section]:
    """The whole document in the active language."""
    return [
        *(_version(version) for version in open_versions()),
        _confirmation(),
        _reruns(),
        _detection(),
        _holds(),
        *_rotation(),
        _defects(),
        _appeals(),
        _kept(),
    ]


def markdown(language: str) -> str:
    """The document in that language, for people who read files."""
    with translation.override(language):
        lines = [f"# {_('Held-out Governance Rules')}", ""]
        lines += [
            _("Printed from the rows and constants in force on %(day)s (UTC).")
            % {"day": f"{clock.now():%Y-%m-%d}"},
            "",
        ]
        for section in sections():
            lines += [f"## {section.title}", ""]
            lines += [line for sentence in section.sentences for line in (sentence, "")]
            if section.rows:
                lines += [f"| {_('Rule')} | {_('Value')} |", "|---|---|"]
                lines += [f"| {what} | {value} |" for what, value in section.rows] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _version(version: TaskSetVersion) -> Section:
    policy = current_policy(version)
    rows = [(str(QuotaPolicy.Rule(rule).label), _quota(rule, value)) for rule, value in _quotas(version)]
    if policy is not None:
        rows += [
            (_("Policy"), str(policy.get_profile_display())),
            (_("Rule"), str(policy.get_rule_display())),
            (_("Grid"), _points(policy.grid_points)),
            (_("Release tick"), _duration(policy.tick_seconds)),
            (_("Correlation within a task family (ρ)"), str(policy.rho)),
        ]
        if policy.fewest_changed is not None:
            rows.append(
                (
                    _("Changed tasks of a domain from which it has a value of its own"),
                    str(policy.fewest_changed),
                )
            )
        if policy.budget_millibits is not None:
            amount = _("%(amount)s bits") % {"amount": ledger.bits(policy.budget_millibits)}
            rows.append((_("Information budget"), amount))
    title = _("Version %(version)s: how often may be asked, and what is answered") % {
        "version": version.label
    }
    return Section(
        title,
        [
            _("Four domain values with their intervals are released together on a tick, and nothing finer."),
            _(
                "A domain whose behaviour changed on few tasks only shows no value; whether answers were "
                "right is never asked."
            ),
        ],
        rows,
    )


def _quotas(version: TaskSetVersion) -> list[tuple[str, int]]:
    """The rows in force now, one for each rule."""
    rows = QuotaPolicy.objects.filter(task_set=version, valid_from__lte=clock.now()).order_by("valid_from")
    return sorted({row.rule: row.value for row in rows}.items())


def _quota(rule: str, value: int) -> str:
    return _duration(value) if rule.endswith("_seconds") else str(value)


def _confirmation() -> Section:
    months = ", ".join(f"{month}-{dating.RESULTS_DAY}" for month in ("03", "06", "09", "12"))
    return Section(
        _("Confirmation runs and dates"),
        [
            _(
                "A published number comes from a confirmation run only: fresh seeds, free of quota, "
                "consent given with the request."
            ),
            _("Dates of errata freeze what the public change log gained, on the first of each month."),
        ],
        [
            (_("Confirmation runs of a harness line on a version, at most"), str(confirmation.MOST)),
            (_("Dates of results"), f"{months}, {dating.HOUR:02}:00 UTC"),
        ],
    )


def _reruns() -> Section:
    return Section(
        _("Re-runs when a version opens"),
        [
            _(
                "When a version opens that follows another one, each combination published on the former one is "
                "offered one re-run outside its quota: the same harness version with the same package. It costs no "
                "use and starts no cooldown."
            ),
            _(
                "All other rules hold for it: what may be in flight, stops, the information budget, and what is "
                "answered."
            ),
        ],
        [(_("An offer of a re-run stands for"), _days(reruns.STANDS))],
    )


def _detection() -> Section:
    from governance.detection.levels import NEEDS_RUNS

    needs = max(NEEDS_RUNS.values())
    return Section(
        _("What is looked for"),
        [
            _(
                "Every finished submission is compared with the earlier ones of its line by these rules. "
                "Nothing bans by itself: an alarm leads to people, who hear the vendor by way of an "
                "appeal."
            ),
            _(
                "A vendor is told the rule and the route, never tasks. Levels are versioned rows that "
                "auditors see."
            ),
            ngettext(
                "Some rules need %(n)s run of each task and are off below.",
                "Some rules need %(n)s runs of each task and are off below.",
                needs,
            )
            % {"n": needs},
        ],
        [(str(rule.name), str(rule.sentence)) for rule in RULES.values()],
    )


def _holds() -> Section:
    return Section(
        _("Holds"),
        [
            _(
                "A result whose release is due can be held. At the deadline it is released, unless two "
                "people extended or voided the hold with a reason; it is never voided by waiting."
            ),
            _("A hold that is lifted as a false alarm returns the use and ends the cooldown."),
        ],
        [
            (_("Longest hold"), _working_days(holds.WORKING_DAYS)),
            (_("Longest hold that two people extended"), _working_days(holds.MOST_WORKING_DAYS)),
        ],
    )


def _rotation() -> list[Section]:
    return [
        Section(
            _("Rotation of held-out tasks"),
            [
                _(
                    "Every version replaces a share of each domain drawn at random, whatever is known of it, "
                    "and tasks that two people decided to take out. Unexposed tasks go along, so that the batch "
                    "does not tell which ones were suspected; why a task left is never said."
                ),
                _("A frozen version stays as it is: whatever is decided takes effect with the next one."),
            ],
            [
                (_("Of a domain, drawn at random"), _share(rotation.PLANNED_SHARE)),
                (_("Of a domain, leaving altogether at most"), _share(rotation.MOST_SHARE)),
                (_("Cover, out of those that leave for a reason"), _share(rotation.COVER_SHARE)),
                (_("Of a domain's leaving tasks, becoming public at most"), _share(rotation.PUBLIC_SHARE)),
                (
                    _("Mean score of the best baseline from which a task is kept as a regression case only"),
                    _share(rotation.SATURATED),
                ),
                (
                    _("Reserve of a stratum, out of what a version is expected to need"),
                    _("at least %(n)s times") % {"n": rotation.STOCK_FACTOR},
                ),
            ],
        ),
        Section(_("What a rotation is checked by, and until when it is decided"), [], _rotation_steps()),
    ]


def _rotation_steps() -> list[tuple[str, str]]:
    """What replacements are checked by, and the deadlines of entries and plans."""
    words = {
        "queued": _("A task that waits is decided about within"),
        "proposed": _("A proposal about a task lapses after"),
        "watching": _("A task that is watched waits again after"),
        "rotating": _("A task that is to leave does so within"),
    }
    steps = {
        "seeded": _("A plan is drawn within, by a seed that was committed before"),
        "drawn": _("A drawn plan is put forward within"),
        "proposed": _("A second person approves or returns a plan within"),
        "approved": _("The next version is composed within"),
        "composed": _("It comes into force within"),
    }
    return [
        (
            _("Standardised mean difference between tasks that leave and come, below"),
            f"{limits.SMD_BELOW:g}",
        ),
        (_("Fixed harnesses that run on both versions"), str(rotation.ANCHORS)),
        (_("Points by which one of them may move in a domain, below"), f"{limits.SHIFT_BELOW:g}"),
        *((word, _days(rotation.ENTRY_STAYS[state])) for state, word in words.items()),
        *((word, _days(rotation.PLAN_STAYS[state])) for state, word in steps.items()),
    ]


def _share(part: float) -> str:
    return f"{100 * part:.3g} %"


def _defects() -> Section:
    words = {
        "reported": _("A report is confirmed or dismissed within"),
        "confirmed": _("A confirmed defect is mended within"),
        "mended": _("It is in a frozen version within"),
    }
    return Section(
        _("Defects of frozen tasks"),
        [
            _(
                "A frozen task stays as it is; its fix enters the next version. How many tasks are under "
                "revision is counted on dates of errata."
            ),
            _(
                "Where a ruling or a settled defect asks for it, a released result is graded again from "
                "what its runs left: no use is taken, and values that change are shown as corrected beside "
                "the first ones."
            ),
        ],
        [(words[state], _days(stay)) for state, stay in problems.STAYS.items()],
    )


def _appeals() -> Section:
    return Section(
        _("Appeals"),
        [
            _(
                "An appeal is heard by people who had no part in what it is about; a score appeal is a "
                "blind re-check of runs that neither side could choose. Answers name no task."
            ),
        ],
        [
            (_("Window after the release or decision"), _days(appeals.WINDOW)),
            (_("Appeals of a lineage on a version, won ones aside"), str(appeals.FREE)),
            (_("Ruling within"), _working_days(appeals.ANSWER_DAYS)),
            (_("Runs of a blind re-check"), str(appeals.RECHECKED)),
            (_("Agreement below which the domain is graded again"), _points(appeals.THRESHOLD)),
        ],
    )


def _kept() -> Section:
    return Section(
        _("What is kept"),
        [
            _(
                "Submissions and events stay for ever. Once nobody of a participant has an account any "
                "more, it stands under a pseudonym wherever results are shown; counts and the places of "
                "others stay."
            ),
        ],
        [(_("Packages are deleted after"), _days(timedelta(days=settings.PACKAGE_RETENTION_DAYS)))],
    )


def _points(number: int) -> str:
    return ngettext("%(n)s point", "%(n)s points", number) % {"n": number}


def _days(span: timedelta) -> str:
    return ngettext("%(n)s day", "%(n)s days", span.days) % {"n": span.days}


def _working_days(number: int) -> str:
    return ngettext("%(n)s working day", "%(n)s working days", number) % {"n": number}


def _duration(seconds: int) -> str:
    if seconds and seconds % DAY == 0:
        return _days(timedelta(seconds=seconds))
    if seconds and seconds % 60 == 0:
        minutes = seconds // 60
        return ngettext("%(n)s minute", "%(n)s minutes", minutes) % {"n": minutes}
    return ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds}
