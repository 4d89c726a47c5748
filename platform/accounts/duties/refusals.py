"""Why something about duties is refused: a code that stays, and a sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

from django.db import IntegrityError
from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


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


WORDS: Mapping[Reason, Words] = {
    Reason.NOT_BEGUN: Words(
        _("No duties yet"),
        _("No duty was given yet."),
        _("Name the first two administrators on the host: manage.py duties ceremony."),
    ),
    Reason.BEGUN: Words(
        _("Duties have begun"),
        _("The first two administrators were named already; that is done once."),
        _("They give all other duties; ask them."),
    ),
    Reason.NOT_A_PERSON: Words(
        _("For people only"),
        _("Only a person who has signed in does this."),
        _("Sign in and do it on the page."),
    ),
    Reason.NOT_STAFF: Words(
        _("For the staff only"),
        _("Only active members of the staff hold this duty."),
        _("Ask for the staff right first."),
    ),
    Reason.NOT_ADMINISTRATOR: Words(
        _("For administrators only"),
        _("Only who holds the duty of an administrator does this."),
        _("Ask one of them."),
    ),
    Reason.BY_TERM: Words(
        _("Auditors have terms"),
        _("Auditors are appointed for a term, and hold no other duty."),
        _("Appoint them on the host: manage.py auditor_appoint."),
    ),
    Reason.ONE_PERSON: Words(
        _("Two people are needed"),
        _("Two different people are behind each duty and each decision."),
        _("Ask somebody else who may take part."),
    ),
    Reason.OWN: Words(
        _("A duty of your own"),
        _("Nobody confirms or reviews a duty of their own."),
        _("Ask another administrator."),
    ),
    Reason.DATES: Words(
        _("Dates of a duty"),
        _("A duty ends after it begins, and not in the past."),
        _("Give another date."),
    ),
    Reason.TOO_LONG: Words(
        _("A duty too long"),
        _("A duty lasts at most 366 days."),
        _("Give an earlier end, and propose it again when it is over."),
    ),
    Reason.NO_REASON: Words(
        _("A reason is missing"),
        _("What is decided here has a reason on record."),
        _("Say why, in a few words."),
    ),
    Reason.CONFLICT: Words(
        _("Duties exclude each other"),
        _("This person holds a duty in that time that excludes this one."),
        _("End the other first, or choose another person."),
    ),
    Reason.HELD: Words(
        _("A duty held already"),
        _("This person holds that duty in that time already."),
        _("Let the new one begin when the other ends."),
    ),
    Reason.MEMBER: Words(
        _("A member of a vendor"),
        _(
            "This person is a member of an organisation that can submit, and this duty sees what such "
            "members must not see."
        ),
        _("Choose another person."),
    ),
    Reason.HOLDER: Words(
        _("A duty excludes membership"),
        _("This person holds a duty that sees what members of an organisation that can submit must not see."),
        _("They can join once it is over."),
    ),
    Reason.IS_CONFIRMED: Words(
        _("Confirmed already"),
        _("It is confirmed already."),
        _("Nothing is left to do; look at the page again."),
    ),
    Reason.NOT_CONFIRMED: Words(
        _("Not confirmed yet"),
        _("It is not confirmed yet; only what somebody holds is reviewed."),
        _("Confirm it first."),
    ),
    Reason.IS_OVER: Words(
        _("Over"),
        _("It is over, and stays so."),
        _("Propose a new one."),
    ),
    Reason.FEW_ADMINISTRATORS: Words(
        _("Too few administrators"),
        _("Fewer than two other administrators would be left, and two are needed to give any duty."),
        _("Confirm another one first."),
    ),
    Reason.NOT_ENTITLED: Words(
        _("Not entitled to decide"),
        _("The duties of these two people do not entitle them to this decision."),
        _("Ask who may: manage.py duties check prints them."),
    ),
    Reason.OWN_CASE: Words(
        _("A case of your own"),
        _("Nobody decides about an organisation that they belong to."),
        _("Leave it to somebody else."),
    ),
    Reason.ROOM_HOURS: Words(
        _("Hours of an audit room"),
        _("An audit room is open for 1 to 168 hours."),
        _("Give another number."),
    ),
    Reason.TERM_IS_OVER: Words(
        _("No term at this moment"),
        _("The auditor's term does not run at this moment."),
        _("Propose the room for a term that does."),
    ),
}


class DutyRefused(AccountsRefused[Reason]):
    words = WORDS


#: Names of constraints that say the same as a code under another name.
_ALSO = {
    "accounts_dutyceremony_pkey": Reason.BEGUN,
    "duty_two_people": Reason.ONE_PERSON,
    "room_two_people": Reason.ONE_PERSON,
    "return_two_people": Reason.ONE_PERSON,
    "hold_decision_two_people": Reason.ONE_PERSON,
    "hold_lifted_by_another": Reason.ONE_PERSON,
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
