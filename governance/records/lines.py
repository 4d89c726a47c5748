"""The kinds of public lines: which facts each takes, and the sentence that is made of them. No database."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from benchmark.models import Domain

Facts = Mapping[str, str | int]
MOST = 10_000
_LABEL = re.compile(r"[0-9A-Za-z][0-9A-Za-z.\-]{0,40}")
_DAY = re.compile(r"20\d\d-\d\d-\d\d")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

PARTS: Final[Mapping[str, Promise]] = {
    "rules": pgettext_lazy("part", "grading rules"),
    "data": pgettext_lazy("part", "data of tasks"),
    "statement": pgettext_lazy("part", "statements of tasks"),
    "gold": pgettext_lazy("part", "reference answers"),
    "environment": pgettext_lazy("part", "environment of runs"),
    "evaluator": pgettext_lazy("part", "evaluator"),
    "documents": pgettext_lazy("part", "published documents"),
}
REASONS: Final[Mapping[str, Promise]] = {
    "contaminated": pgettext_lazy("retired", "contaminated"),
    "distorted": pgettext_lazy("retired", "distorted"),
    "outdated": pgettext_lazy("retired", "outdated"),
}
"""Why a task is retired (white paper 7.3)."""
CAUSES: Final[Mapping[str, Promise]] = {
    "ruling": pgettext_lazy("graded again", "a ruling on an appeal"),
    "defect": pgettext_lazy("graded again", "a defect that is settled"),
}
SUBJECTS: Final[Mapping[str, Promise]] = {
    "quota": pgettext_lazy("appeal", "a decision about the quota"),
    "fault": pgettext_lazy("appeal", "a fault of the platform"),
    "score": pgettext_lazy("appeal", "a domain score"),
    "rule": pgettext_lazy("appeal", "the interpretation of a rule"),
    "hold": pgettext_lazy("appeal", "a hold"),
    "rotation": pgettext_lazy("appeal", "a notice of rotation"),
}
OUTCOMES: Final[Mapping[str, Promise]] = {
    "upheld": pgettext_lazy("appeal", "upheld"),
    "partly": pgettext_lazy("appeal", "upheld in part"),
    "rejected": pgettext_lazy("appeal", "rejected"),
}
POLICIES: Final[Mapping[str, Promise]] = {
    "release": pgettext_lazy("policy", "release policy"),
    "quota": pgettext_lazy("policy", "quota and cooldown"),
    "detection": pgettext_lazy("policy", "levels of detection"),
    "rotation": pgettext_lazy("policy", "rotation"),
    "holds": pgettext_lazy("policy", "holds"),
    "appeals": pgettext_lazy("policy", "appeals"),
}
DOMAINS: Final[Mapping[str, Any]] = {domain.value: domain.label for domain in Domain}


class WrongFacts(ValueError):
    """These facts do not make a line of that kind; the message says why."""


@dataclass(frozen=True)
class Kind:
    """Which facts a line takes, and its sentence with their places."""

    sentence: Promise
    facts: Mapping[str, Callable[[object], object]]
    """By name: what checks the fact, and gives it as the sentence shows it. Raises WrongFacts."""


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise WrongFacts("a count is a whole number of 0 or more")
    return value


def _points(value: object) -> str:
    """Whole points of the grid, either way."""
    if isinstance(value, bool) or not isinstance(value, int) or not -100 <= value <= 100:
        raise WrongFacts("a shift is a whole number of points")
    return f"{value:+d}" if value else "0"


def _shaped(pattern: re.Pattern[str], what: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise WrongFacts(what)
        return value

    return check


def _one_of(words: Mapping[str, Any]) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value not in words:
            raise WrongFacts(f"{value!r} is none of {', '.join(words)}")
        return words[str(value)]

    return check


_version, _day = _shaped(_LABEL, "a version is named by its label"), _shaped(_DAY, "a day is YYYY-MM-DD")
_task = _shaped(_SLUG, "a task is named by its id")

KINDS: Final[Mapping[str, Kind]] = {
    "rotation": Kind(
        _(
            "%(tasks)s held-out tasks leave with version %(next)s; %(published)s of them become public, the others "
            "are used no more. Why each was chosen is not said."
        ),
        {"tasks": _count, "published": _count, "next": _version},
    ),
    "retirement": Kind(
        _("The task %(task)s is retired: %(reason)s."), {"task": _task, "reason": _one_of(REASONS)}
    ),
    "erratum": Kind(
        _("An error in the %(part)s is corrected with version %(fixed_in)s."),
        {"part": _one_of(PARTS), "fixed_in": _version},
    ),
    "regrade": Kind(
        _("Results were graded again because of %(cause)s; values that changed are shown as corrected."),
        {"cause": _one_of(CAUSES)},
    ),
    "appeal_outcome": Kind(
        _("An appeal about %(subject)s was %(outcome)s."),
        {"subject": _one_of(SUBJECTS), "outcome": _one_of(OUTCOMES)},
    ),
    "defect_known": Kind(
        _(
            "Held-out tasks under revision: %(tasks)s. They stay in this version; the next one has them mended."
        ),
        {"tasks": _count},
    ),
    "defect_settled": Kind(
        _("Held-out tasks whose defects are mended with version %(fixed_in)s: %(tasks)s."),
        {"tasks": _count, "fixed_in": _version},
    ),
    "anchor_shift": Kind(
        _(
            "%(domain)s: the same harnesses stand %(points)s points apart between this version and %(former)s; run "
            "twice on one version they differ by %(repeat)s. Scores of different versions are not compared."
        ),
        {"domain": _one_of(DOMAINS), "points": _points, "repeat": _points, "former": _version},
    ),
    "policy": Kind(
        _("The policy on %(policy)s changed; in force from %(day)s."),
        {"policy": _one_of(POLICIES), "day": _day},
    ),
}
"""By kind; `records.models.ChangeLogLine.Kind` has the same."""


def check(kind: str, facts: Facts) -> None:
    """Raises WrongFacts where the facts are not those of the kind."""
    known = KINDS.get(kind)
    if known is None:
        raise WrongFacts(f"there is no such kind; the kinds are {', '.join(KINDS)}")
    if set(facts) != set(known.facts):
        raise WrongFacts(f"it takes {', '.join(known.facts)}")
    for name, value in facts.items():
        known.facts[name](value)


def sentence(kind: str, facts: Facts) -> str:
    """The line in the active language."""
    known = KINDS[kind]
    return str(known.sentence) % {name: known.facts[name](value) for name, value in facts.items()}


def sentences(kind: str, facts: Facts) -> dict[str, str]:
    """The line in both languages, by their codes."""
    found = {}
    for language in ("en", "zh-hans"):
        with translation.override(language):
            found[language] = sentence(kind, facts)
    return found
