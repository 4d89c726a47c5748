"""What may be said of a hold in each of its states, to whom. Pages, API, notices and webhooks keep to this table.

The vendor is told the rule, the deadline, what happens then and how to appeal; never which tasks, alarms or people. A
linked vendor shares counters and is told nothing else, above all no name. The public is told nothing before a final
ruling, which speaks for itself in the version's record. Auditors read the events, with people by pseudonym.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Audience(StrEnum):
    VENDOR = "vendor"
    LINKED_VENDOR = "linked_vendor"
    PUBLIC = "public"
    AUDITOR = "auditor"


class Fact(StrEnum):
    """What a statement may carry besides its words."""

    STATE = "state"
    RULE = "rule"
    PLACED_AT = "placed_at"
    UNTIL = "until"
    ENDED_AT = "ended_at"
    GROUND = "ground"
    APPEAL = "appeal"
    """The way to appeal, and until when."""
    EVENTS = "events"
    """The entries of the log: alarms and people by their ids."""


@dataclass(frozen=True)
class Statement:
    """`now` says how it stands, `then` what happens next; both empty where nothing may be said."""

    now: Promise | str = ""
    then: Promise | str = ""
    facts: frozenset[Fact] = frozenset()


NOTHING = Statement()
_OPEN = frozenset({Fact.STATE, Fact.RULE, Fact.PLACED_AT, Fact.UNTIL, Fact.APPEAL})
_OVER = frozenset({Fact.STATE, Fact.RULE, Fact.PLACED_AT, Fact.ENDED_AT})
_TO_AUDITORS = Statement(_("In the log, with every step."), "", frozenset({Fact.EVENTS}))

VENDOR: Mapping[str, Statement] = {
    # An order that has not taken effect yet would warn whom it is about.
    "ordered": NOTHING,
    "active": Statement(
        _("The result is held for review before its release. No number of it has been shown to anybody."),
        _(
            "The review ends by itself at that instant and the result is released with the next tick, unless two "
            "people extended the hold once, to twenty working days in all, or voided the submission before."
        ),
        _OPEN,
    ),
    "extended": Statement(
        _("Two people extended the review once. No number of the result has been shown to anybody."),
        _(
            "The review ends by itself at that instant and the result is released with the next tick, unless two "
            "people voided the submission before. It cannot be extended again."
        ),
        _OPEN,
    ),
    "lifted": Statement(
        _("The review found nothing: it was a false alarm. The use is returned and the cooldown has ended."),
        _("The result is released with the next tick after the end of the hold."),
        _OVER,
    ),
    "released": Statement(
        _("The review is over."),
        _("The result is released with the next tick after the end of the hold. The use stays counted."),
        _OVER,
    ),
    "voided": Statement(
        _("The submission was voided after the review. The use stays counted."),
        _("No number of it is ever shown. Where an appeal is upheld the use is returned."),
        _OVER | {Fact.GROUND, Fact.APPEAL},
    ),
}

TABLE: Mapping[tuple[str, Audience], Statement] = {
    **{(state, Audience.VENDOR): statement for state, statement in VENDOR.items()},
    **{(state, Audience.LINKED_VENDOR): NOTHING for state in VENDOR},
    **{(state, Audience.PUBLIC): NOTHING for state in VENDOR},
    **{(state, Audience.AUDITOR): _TO_AUDITORS for state in VENDOR},
}


def statement(state: str, audience: Audience) -> Statement:
    """What may be said in that state; raises KeyError for a state that there is not."""
    return TABLE[state, audience]
