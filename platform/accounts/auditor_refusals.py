"""Why an organisation does not audit, or somebody is no auditor."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from accounts.refusals import AccountsRefused, Words


class Reason(StrEnum):
    OPERATOR = "auditor_operator"
    ENTRANT = "auditor_entrant"
    STAFF = "auditor_is_staff"
    MEMBER = "auditor_is_member"
    DUTY = "auditor_holds_duty"
    DECLARATION = "auditor_declaration"
    TERM = "auditor_term"


WORDS: Mapping[Reason, Words] = {
    Reason.OPERATOR: Words(
        _("The operator audits nothing"),
        _("The operator does not audit itself."),
        _("Name another organisation."),
    ),
    Reason.ENTRANT: Words(
        _("An organisation that takes part"),
        _("The organisation has harnesses or submissions that would be audited."),
        _("Name an organisation that takes no part."),
    ),
    Reason.STAFF: Words(
        _("Staff audit nothing"),
        _("Staff of the operator do not audit it."),
        _("Appoint somebody who is no member of the staff."),
    ),
    Reason.MEMBER: Words(
        _("A member elsewhere"),
        _("The person is a member of another organisation."),
        _("Appoint somebody else, or wait until they have left it."),
    ),
    Reason.DUTY: Words(
        _("Holds a duty of the staff"),
        _("The person holds a duty of the staff."),
        _("Appoint somebody else, or wait until it is over."),
    ),
    Reason.DECLARATION: Words(
        _("The declaration's digest"),
        _("The declaration is named by its SHA-256, 64 hexadecimal digits."),
        _("Give the digest of the signed paper."),
    ),
    Reason.TERM: Words(
        _("Term of an auditor"),
        _("A term has a scope, and ends after it begins."),
        _("Give a scope and other dates."),
    ),
}


class AuditorRefused(AccountsRefused[Reason]):
    words = WORDS
