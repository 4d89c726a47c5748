"""Audit event kinds of accounts."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.read_events import Delivered


class UserCreated(Event):
    kind: ClassVar[str] = "account.created"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} created the account {subject}.")


class PasswordSet(Event):
    kind: ClassVar[str] = "account.password_set"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} set a new password for the account {subject}.")


class PasswordRehashed(Event):
    """The same password, kept under a stronger hash from its next use on."""

    kind: ClassVar[str] = "account.password_rehashed"
    subject_type: ClassVar[str] = "account"
    sentence = _("The password of the account {subject} was stored again under a stronger hash.")


class FactorEnrolled(Event):
    """`factor` is `totp` or `webauthn`; no event names a secret, a key or a device."""

    kind: ClassVar[str] = "account.factor_enrolled"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} set up a second factor ({factor}) for the account {subject}.")
    factor: str


class FactorRemoved(Event):
    """With the last one its recovery codes go too."""

    kind: ClassVar[str] = "account.factor_removed"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} removed a second factor ({factor}) of the account {subject}.")
    factor: str


class RecoveryCodesMade(Event):
    """Earlier ones are void."""

    kind: ClassVar[str] = "account.recovery_codes_made"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} made recovery codes for the account {subject}.")


class SessionsEnded(Event):
    """From the list of sessions; those that end with a password or a suspension have that event."""

    kind: ClassVar[str] = "account.sessions_ended"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} ended sessions of the account {subject}: {sessions}.")
    sessions: int


class EmailChanged(Event):
    """Another address is the account's primary one; no event ever names an address."""

    kind: ClassVar[str] = "account.email_changed"
    subject_type: ClassVar[str] = "account"
    sentence = _("The account {subject} has another primary address.")


class LanguageSet(Event):
    """The language of the person's mail."""

    kind: ClassVar[str] = "account.language_set"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} set the language of the account {subject} to {language}.")
    language: str


class NameSet(Event):
    """They are called something else now; no event ever says what."""

    kind: ClassVar[str] = "account.name_set"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} set the name of the account {subject}.")


class PersonErased(Event):
    """Name, key, addresses, sign-ins and tokens are gone; the pseudonym in earlier events leads to nobody."""

    kind: ClassVar[str] = "person.erased"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} erased the person behind {subject}.")


class ErasureAsked(Event):
    kind: ClassVar[str] = "erasure.asked"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} asked to be erased.")


class ErasureWithdrawn(Event):
    kind: ClassVar[str] = "erasure.withdrawn"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} no longer asks to be erased.")


class UserSuspended(Event):
    kind: ClassVar[str] = "account.suspended"
    subject_type: ClassVar[str] = "account"
    sentence = _("{actor} suspended the account {subject}.")


class OrganisationCreated(Event):
    kind: ClassVar[str] = "organisation.created"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} created the organisation {subject}.")
    lineage: str


class OrganisationVerified(Event):
    """`registration` is the one that two people decided on; without it, a machine was set up by command."""

    kind: ClassVar[str] = "organisation.verified"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} verified the organisation {subject}.")
    until: str | None = None
    registration: str | None = None


class OrganisationSuspended(Event):
    kind: ClassVar[str] = "organisation.suspended"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} suspended the organisation {subject}.")


class MemberAdded(Event):
    kind: ClassVar[str] = "organisation.member_added"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} added {account} to the organisation {subject} as {role}.")
    account: str
    role: str


class MemberRoleChanged(Event):
    kind: ClassVar[str] = "organisation.member_role_changed"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} gave {account} the role {role} in the organisation {subject}.")
    account: str
    role: str


class MemberEnded(Event):
    """They left, or an owner removed them; the actor says which."""

    kind: ClassVar[str] = "organisation.member_ended"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} ended the membership of {account} in the organisation {subject}.")
    account: str


class InvitationSent(Event):
    """No event names the address."""

    kind: ClassVar[str] = "invitation.sent"
    subject_type: ClassVar[str] = "invitation"
    sentence = _("{actor} invited somebody to {organisation} as {role}; the invitation ends on {expires}.")
    organisation: str
    role: str
    expires: str


class InvitationAccepted(Event):
    kind: ClassVar[str] = "invitation.accepted"
    subject_type: ClassVar[str] = "invitation"
    sentence = _("{account} accepted an invitation to {organisation}.")
    organisation: str
    account: str


class InvitationRevoked(Event):
    """Withdrawn, replaced, or forgotten after it had expired."""

    kind: ClassVar[str] = "invitation.revoked"
    subject_type: ClassVar[str] = "invitation"
    sentence = _("{actor} withdrew the invitation {subject}.")


class TokenIssued(Event):
    kind: ClassVar[str] = "token.issued"
    subject_type: ClassVar[str] = "token"
    sentence = _("{actor} issued the token {subject}, valid until {expires}.")
    scopes: list[str]
    expires: str


class TokenRevoked(Event):
    kind: ClassVar[str] = "token.revoked"
    subject_type: ClassVar[str] = "token"
    sentence = _("{actor} revoked the token {subject}. Cause: {cause}.")
    cause: str | None = None
    """Events of the first release have none."""


class AuditOrganisationMarked(Event):
    """People of this organisation may be appointed as auditors."""

    kind: ClassVar[str] = "organisation.marked_as_auditing"
    subject_type: ClassVar[str] = "organisation"
    sentence = _("{actor} marked {subject} as an audit organisation.")


class AuditorAppointed(Event):
    """`scope` is concealed; `declaration` is the SHA-256 of the signed declaration of independence.

    `people`, by pseudonym, are the two administrators behind it.
    """

    kind: ClassVar[str] = "auditor.appointed"
    version: ClassVar[int] = 2
    subject_type: ClassVar[str] = "auditor_term"
    sentence = _("{actor} appointed {account} of {organisation} as auditor from {begins} to {ends}.")
    account: str
    organisation: str
    begins: str
    ends: str
    scope: str
    declaration: str
    people: list[str] | None = None


class AuditorEnded(Event):
    kind: ClassVar[str] = "auditor.ended"
    subject_type: ClassVar[str] = "auditor_term"
    sentence = _("{actor} ended the auditor's term {subject}.")


class DutiesBegun(Event):
    """The ceremony on the host: these two are the first administrators. It happens once."""

    kind: ClassVar[str] = "duties.begun"
    subject_type: ClassVar[str] = "duty_ceremony"
    sentence = _("{actor} named the first two administrators: {first} and {second}.")
    first: str
    second: str


class DutyProposed(Event):
    """`reason` is concealed, here and in the others about duties."""

    kind: ClassVar[str] = "duty.proposed"
    subject_type: ClassVar[str] = "duty"
    sentence = _("{proposed_by} proposed {account} as {duty} from {begins} to {ends}.")
    account: str
    duty: str
    begins: str
    ends: str
    proposed_by: str
    at: str
    reason: str


class DutyConfirmed(Event):
    """From now on the person holds it, between its dates."""

    kind: ClassVar[str] = "duty.confirmed"
    subject_type: ClassVar[str] = "duty"
    sentence = _("{confirmed_by} confirmed the duty {subject}; it is to be reviewed by {review_due}.")
    confirmed_by: str
    at: str
    review_due: str
    reason: str


class DutyReviewed(Event):
    """Somebody else looked whether it is still due."""

    kind: ClassVar[str] = "duty.reviewed"
    subject_type: ClassVar[str] = "duty"
    sentence = _("{reviewed_by} reviewed the duty {subject}; it is to be reviewed again by {review_due}.")
    reviewed_by: str
    at: str
    review_due: str
    reason: str


class DutyEnded(Event):
    """Before its date, or before it was confirmed."""

    kind: ClassVar[str] = "duty.ended"
    subject_type: ClassVar[str] = "duty"
    sentence = _("{ended_by} ended the duty {subject}.")
    ended_by: str
    at: str
    reason: str


class RoomProposed(Event):
    """`reason` is concealed."""

    kind: ClassVar[str] = "audit_room.proposed"
    subject_type: ClassVar[str] = "audit_room"
    sentence = _(
        "{proposed_by} proposed the audit room {subject} about the submission {submission}, for {hours} hours."
    )
    term: str
    submission: str
    hours: int
    proposed_by: str
    reason: str


class RoomOpened(Event):
    kind: ClassVar[str] = "audit_room.opened"
    subject_type: ClassVar[str] = "audit_room"
    sentence = _("{opened_by} opened the audit room {subject} until {closes}.")
    opened_by: str
    at: str
    closes: str


class RoomEnded(Event):
    """Before it closed by itself, or before it was opened."""

    kind: ClassVar[str] = "audit_room.ended"
    subject_type: ClassVar[str] = "audit_room"
    sentence = _("{ended_by} ended the audit room {subject}.")
    ended_by: str
    at: str


class RoomRead(Delivered):
    """The single results that the room is about were shown."""

    kind: ClassVar[str] = "audit_room.read"
    subject_type: ClassVar[str] = "audit_room"
    sentence = _("{actor} was shown the single results in the audit room {subject} ({surface}).")
