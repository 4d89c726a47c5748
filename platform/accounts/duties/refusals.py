"""Why something about duties is refused: a code that stays, and a sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from django.db import IntegrityError
from django.utils.translation import gettext_lazy as _


class Reason(StrEnum):
    """The codes; the database raises those of its own rules under the same names."""

    NOT_BEGUN = "duties_not_begun"
    BEGUN = "duties_begun"
    NOT_A_PERSON = "duty_not_a_person"
    NOT_STAFF = "duty_not_staff"
    NOT_ADMINISTRATOR = "duty_not_administrator"
    BY_TERM = "duty_by_term"
    ONE_PERSON = "duty_one_person"
    OWN = "duty_own"
    DATES = "duty_dates"
    TOO_LONG = "duty_too_long"
    NO_REASON = "duty_no_reason"
    CONFLICT = "duty_conflict"
    HELD = "duty_held"
    MEMBER = "duty_member"
    HOLDER = "duty_holder"
    IS_CONFIRMED = "duty_is_confirmed"
    NOT_CONFIRMED = "duty_not_confirmed"
    IS_OVER = "duty_is_over"
    FEW_ADMINISTRATORS = "duty_few_administrators"
    NOT_ENTITLED = "decision_not_entitled"
    OWN_CASE = "decision_own_case"
    ROOM_HOURS = "room_hours"
    TERM_IS_OVER = "room_term_is_over"


SENTENCES: Mapping[Reason, Any] = {
    Reason.NOT_BEGUN: _(
        "No duty was given yet. Name the first two administrators on the host: manage.py duties ceremony."
    ),
    Reason.BEGUN: _(
        "The first two administrators were named already; that is done once. They give all other duties."
    ),
    Reason.NOT_A_PERSON: _("Only a person who has signed in does this."),
    Reason.NOT_STAFF: _("Only active members of the staff hold this duty. Ask for the staff right first."),
    Reason.NOT_ADMINISTRATOR: _("Only who holds the duty of an administrator does this. Ask one of them."),
    Reason.BY_TERM: _(
        "Auditors are appointed for a term, by manage.py auditor_appoint, and hold no other duty."
    ),
    Reason.ONE_PERSON: _(
        "Two different people are behind each duty and each decision. Ask somebody else who may take part."
    ),
    Reason.OWN: _("Nobody confirms or reviews a duty of their own. Ask another administrator."),
    Reason.DATES: _("A duty ends after it begins, and not in the past. Give another date."),
    Reason.TOO_LONG: _(
        "A duty lasts at most 366 days. Give an earlier end, and propose it again when it is over."
    ),
    Reason.NO_REASON: _("Say why, in a few words."),
    Reason.CONFLICT: _(
        "This person holds a duty in that time that excludes this one. End the other first, or choose "
        "another person."
    ),
    Reason.HELD: _(
        "This person holds that duty in that time already. Let the new one begin when the other ends."
    ),
    Reason.MEMBER: _(
        "This person is a member of an organisation that can submit, and this duty sees what such "
        "members must not see. Choose another person."
    ),
    Reason.HOLDER: _(
        "This person holds a duty that sees what members of an organisation that can submit must not "
        "see. They can join once it is over."
    ),
    Reason.IS_CONFIRMED: _("It is confirmed already."),
    Reason.NOT_CONFIRMED: _("It is not confirmed yet; only what somebody holds is reviewed."),
    Reason.IS_OVER: _("It is over, and stays so. Propose a new one."),
    Reason.FEW_ADMINISTRATORS: _(
        "Fewer than two other administrators would be left, and two are needed to give any duty. "
        "Confirm another one first."
    ),
    Reason.NOT_ENTITLED: _(
        "The duties of these two people do not entitle them to this decision; manage.py duties check "
        "says whose do."
    ),
    Reason.OWN_CASE: _(
        "Nobody decides about an organisation that they belong to. Leave it to somebody else."
    ),
    Reason.ROOM_HOURS: _("An audit room is open for 1 to 168 hours. Give another number."),
    Reason.TERM_IS_OVER: _(
        "The auditor's term does not run at this moment. Propose the room for a term that does."
    ),
}


class DutyRefused(ValueError):
    """It is not done; `reason` is the code, `sentence` says what to do."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason

    @property
    def sentence(self) -> str:
        return str(SENTENCES[self.reason])

    def __str__(self) -> str:
        return f"{self.sentence} [{self.reason.value}]"


#: Names of constraints that say the same as a code under another name.
_ALSO = {
    "accounts_dutyceremony_pkey": Reason.BEGUN,
    "duty_two_people": Reason.ONE_PERSON,
    "room_two_people": Reason.ONE_PERSON,
    "return_two_people": Reason.ONE_PERSON,
}
_BY_NAME = {**{reason.value: reason for reason in Reason}, **_ALSO}


@contextmanager
def refusing() -> Iterator[None]:
    """What the database refuses inside by one of its rules about duties is raised as DutyRefused."""
    try:
        yield
    except IntegrityError as error:
        name = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        if (reason := _BY_NAME.get(str(name))) is None:
            raise
        raise DutyRefused(reason) from error
