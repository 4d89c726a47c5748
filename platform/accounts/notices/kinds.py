"""The closed list of what people are told, and in which groups they choose whether it also comes by mail."""

from __future__ import annotations

from enum import StrEnum

from django.utils.translation import gettext_lazy as _


class Group(StrEnum):
    """Kinds that are switched on and off together."""

    SUBMISSIONS = "submissions"
    ORGANISATION = "organisation"
    CREDENTIALS = "credentials"
    DUTIES = "duties"
    SECURITY = "security"


GROUP_WORDS = {
    Group.SUBMISSIONS: _("Submissions: ends, holds, questions to you, returned uses, appeals"),
    Group.ORGANISATION: _("Organisation: registration, members, packages"),
    Group.CREDENTIALS: _("Tokens, keys and webhooks that expire or stop working"),
    Group.DUTIES: _("Duties of the staff"),
    Group.SECURITY: _("Security of your account (always by mail)"),
}
ALWAYS_MAILED = frozenset({Group.SECURITY})


class Kind(StrEnum):
    """`submission.<state>` is sent by the move into that state; `preflight.…` at the end of a preflight on its own."""

    SUBMISSION_COMPLETE = "submission.complete"
    SUBMISSION_INCOMPLETE = "submission.incomplete"
    SUBMISSION_CANCELLED = "submission.cancelled"
    SUBMISSION_REJECTED = "submission.rejected"
    SUBMISSION_PREFLIGHT_FAILED = "submission.preflight_failed"
    SUBMISSION_VOIDED = "submission.voided"
    SUBMISSION_AWAITING_CHOICE = "submission.awaiting_choice"
    SUBMISSION_HELD = "submission.held"
    SUBMISSION_HOLD_EXTENDED = "submission.hold_extended"
    SUBMISSION_HOLD_LIFTED = "submission.hold_lifted"
    SUBMISSION_QUESTION = "submission.question"
    SUBMISSION_PAUSED = "submission.paused"
    PREFLIGHT_PASSED = "preflight.passed"
    PREFLIGHT_FAILED = "preflight.failed"
    PREFLIGHT_ENDED = "preflight.ended"
    CONFIRMATION_CONFIRMED = "confirmation.confirmed"
    CONFIRMATION_INCOMPLETE = "confirmation.incomplete"
    CONFIRMATION_WITHDRAWN = "confirmation.withdrawn"
    SLOT_REFUNDED = "slot.refunded"
    RERUN_OFFERED = "rerun.offered"
    APPEAL_FILED = "appeal.filed"
    APPEAL_ADMITTED = "appeal.admitted"
    APPEAL_INADMISSIBLE = "appeal.inadmissible"
    APPEAL_LATE = "appeal.late"
    APPEAL_WORD_DUE = "appeal.word_due"
    APPEAL_RECHECKED = "appeal.rechecked"
    APPEAL_RULED = "appeal.ruled"
    APPEAL_CARRIED_OUT = "appeal.carried_out"
    APPEAL_WITHDRAWN = "appeal.withdrawn"
    APPEALS_WAITING = "appeals.waiting"
    APPEALS_JUDGING = "appeals.judging"
    ORGANISATION_VERIFIED = "organisation.verified"
    ORGANISATION_REFUSED = "organisation.refused"
    ORGANISATION_ASKED = "organisation.asked"
    ORGANISATION_SUSPENDED = "organisation.suspended"
    REGISTRATION_EXPIRING = "registration.expiring"
    MEMBER_JOINED = "member.joined"
    MEMBER_ROLE_CHANGED = "member.role_changed"
    MEMBER_REMOVED = "member.removed"
    PACKAGE_OPENED = "package.opened"
    PACKAGE_DELETED = "package.deleted"
    TOKEN_EXPIRING = "token.expiring"  # noqa: S105 - a name, no secret
    TOKEN_EXPIRED = "token.expired"  # noqa: S105 - a name, no secret
    TOKEN_LEAKED = "token.leaked"  # noqa: S105 - a name, no secret
    ISSUER_KEYS_EXPIRING = "issuer.keys_expiring"
    WEBHOOK_DISABLED = "webhook.disabled"
    DUTY_GIVEN = "duty.given"
    DUTY_ENDING = "duty.ending"
    DUTY_ENDED = "duty.ended"
    FLEET_WAITING = "fleet.waiting"
    DEVICE_NEW = "device.new"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105 - a name, no secret
    SECOND_FACTOR_CHANGED = "second_factor.changed"


_BY_PREFIX = {
    "submission": Group.SUBMISSIONS,
    "preflight": Group.SUBMISSIONS,
    "confirmation": Group.SUBMISSIONS,
    "slot": Group.SUBMISSIONS,
    "rerun": Group.SUBMISSIONS,
    "appeal": Group.SUBMISSIONS,
    "appeals": Group.DUTIES,
    "organisation": Group.ORGANISATION,
    "registration": Group.ORGANISATION,
    "member": Group.ORGANISATION,
    "package": Group.ORGANISATION,
    "token": Group.CREDENTIALS,
    "issuer": Group.CREDENTIALS,
    "webhook": Group.CREDENTIALS,
    "duty": Group.DUTIES,
    "fleet": Group.DUTIES,
    "device": Group.SECURITY,
    "password": Group.SECURITY,
    "second_factor": Group.SECURITY,
}
_APART = {Kind.TOKEN_LEAKED: Group.SECURITY, Kind.MEMBER_REMOVED: Group.SECURITY}


def group_of(kind: Kind) -> Group:
    """The group whose preference decides about the kind's mail."""
    return _APART.get(kind) or _BY_PREFIX[kind.value.split(".")[0]]
