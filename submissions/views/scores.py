"""Why a run on a public task has its score, in sentences: from its rule items, its score and its failure type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from submissions.queries import PreflightRun

ONE, ZERO = Decimal(1), Decimal(0)
FATAL, ABSENT = "business_constraint_violation", "missing_deliverable"


def unmet(items: list[Any]) -> list[str]:
    """Ids of the rules that are not fully met."""
    return [str(item["id"]) for item in items if Decimal(str(item["score"])) < ONE]


def explained(run: PreflightRun) -> list[str]:
    """What decided the score; nothing for a success or a run without rule items."""
    if run.success or not run.items:
        return []
    open_rules = unmet(run.items)
    names = pgettext("list", ", ").join(open_rules)
    found = []
    if open_rules:
        counts = {"met": len(run.items) - len(open_rules), "total": len(run.items), "names": names}
        found.append(_("%(met)d of %(total)d rules are met in full; not met: %(names)s.") % counts)
    if run.score > ZERO:
        found.append(_("The score is the mean of the rules."))
        if run.failure_type == ABSENT:
            found.append(
                _("“Missing deliverable” here means: what the rules not met look for was not delivered.")
            )
        return found
    return [*found, _zeroed(run, open_rules, names)]


def _zeroed(run: PreflightRun, open_rules: list[str], names: str) -> str:
    """The sentence for a score of 0. Of thresholds and fatal rules only the failure type is on record."""
    if all(Decimal(str(item["score"])) == ZERO for item in run.items):
        return _("No rule is met, so the score is 0.")
    if run.failure_type == FATAL:
        return _(
            "A fatal rule of this task is broken (something was done that must not be); it zeroes the run."
        )
    if not open_rules:
        return _("A required deliverable is missing or unreadable; that zeroes the run whatever else is met.")
    zeroes = ngettext(
        "This task counts as a whole: %(names)s is decisive and zeroes the run.",
        "This task counts as a whole: %(names)s are decisive and zero the run.",
        len(open_rules),
    ) % {"names": names}
    if run.failure_type == ABSENT:
        return _("%(whole)s Or its required deliverable is missing, which zeroes a run too.") % {
            "whole": zeroes
        }
    return zeroes
