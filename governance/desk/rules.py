"""The closed list of rules under which a result can be held, each with the sentence that everybody may read.

One for each channel of the detectors that raises alarms, and one for what people order by hand. A sentence says what
is looked for, never where a level lies or which tasks it was found on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

VERSION = "2026-12"
"""Of this list, as the rules page shows it. Whoever changes a rule gives it another."""
ORDERED = "ordered"
"""The rule of a hold that a governor ordered for a stated reason."""


@dataclass(frozen=True)
class Rule:
    """`code` is the machine value; name and sentence are for people."""

    code: str
    name: Promise
    sentence: Promise


_ROWS = (
    Rule(
        "contrast",
        _("small unexplained changes"),
        _("Successive submissions changed on a few tasks at a time that share nothing but having changed."),
    ),
    Rule(
        "toggle",
        _("answers switched back"),
        _("A later submission behaves on single tasks now like one, now like another of two earlier ones."),
    ),
    Rule(
        "subset",
        _("answers to a part only"),
        _("The harness was active on fewer than half of the tasks of a domain, and nothing explains which."),
    ),
    Rule(
        "dips",
        _("failures on tasks known to be solved"),
        _("Tasks that were solved before and after, and by others, failed for one submission."),
    ),
    Rule(
        "focus",
        _("failures that recur on chosen tasks"),
        _("Over several submissions, failures gather on few tasks in a way that chance does not explain."),
    ),
    Rule(
        "cheap",
        _("solved far below the usual cost"),
        _("Tasks were newly solved at a small part of their earlier cost, with the same model."),
    ),
    Rule(
        "jumps",
        _("hard tasks solved all at once"),
        _("Tasks that hardly anybody solves turned from never solved to always solved."),
    ),
    Rule(
        "echo",
        _("answers that come back"),
        _("Outputs left by an earlier submission came back unchanged on single tasks."),
    ),
    Rule(
        ORDERED,
        _("a review ordered by a governor"),
        _("A governor of the held-out set ordered the review and put the reason on record."),
    ),
)
RULES: Mapping[str, Rule] = {rule.code: rule for rule in _ROWS}


@dataclass(frozen=True)
class Ground:
    """Why two people voided what was held, in words for the vendor."""

    code: str
    sentence: Promise


_GROUNDS = (
    Ground("probing", _("The review found that submissions were made to learn about single held-out tasks.")),
    Ground("memorised", _("The review found that answers to held-out tasks were known beforehand.")),
    Ground("shared", _("The review found that results were passed between organisations that count apart.")),
    Ground("card", _("The review found that what ran is not what the HarnessCard declares.")),
)
GROUNDS: Mapping[str, Ground] = {ground.code: ground for ground in _GROUNDS}


@dataclass(frozen=True)
class Question:
    """What a vendor can be asked in a case. None of them tells anything about tasks."""

    code: str
    sentence: Promise


_QUESTIONS = (
    Question("changes", _("What changed between this version of your harness and the one before, and why?")),
    Question(
        "model", _("Which models and endpoints answered during this submission, and in which versions?")
    ),
    Question(
        "memory", _("Does the harness carry anything from earlier runs, and if so, what and where from?")
    ),
    Question("parts", _("Does the harness answer a part of the tasks only, and how does it choose them?")),
    Question(
        "relations", _("With which other organisations do you share code, models, accounts or results?")
    ),
)
QUESTIONS: Mapping[str, Question] = {question.code: question for question in _QUESTIONS}
