"""Audit event kinds of accounts."""

from __future__ import annotations

from typing import ClassVar

from audit.events import Event


class UserCreated(Event):
    kind: ClassVar[str] = "account.created"
    subject_type: ClassVar[str] = "account"


class PasswordSet(Event):
    kind: ClassVar[str] = "account.password_set"
    subject_type: ClassVar[str] = "account"


class PasswordRehashed(Event):
    """The same password, kept under a stronger hash from its next use on."""

    kind: ClassVar[str] = "account.password_rehashed"
    subject_type: ClassVar[str] = "account"


class EmailChanged(Event):
    """Another address is the account's primary one; no event ever names an address."""

    kind: ClassVar[str] = "account.email_changed"
    subject_type: ClassVar[str] = "account"


class NameSet(Event):
    """They are called something else now; no event ever says what."""

    kind: ClassVar[str] = "account.name_set"
    subject_type: ClassVar[str] = "account"


class PersonErased(Event):
    """Name, key, addresses, sign-ins and tokens are gone; the pseudonym in earlier events leads to nobody."""

    kind: ClassVar[str] = "person.erased"
    subject_type: ClassVar[str] = "account"


class UserSuspended(Event):
    kind: ClassVar[str] = "account.suspended"
    subject_type: ClassVar[str] = "account"


class OrganisationCreated(Event):
    kind: ClassVar[str] = "organisation.created"
    subject_type: ClassVar[str] = "organisation"
    lineage: str


class OrganisationVerified(Event):
    kind: ClassVar[str] = "organisation.verified"
    subject_type: ClassVar[str] = "organisation"


class OrganisationSuspended(Event):
    kind: ClassVar[str] = "organisation.suspended"
    subject_type: ClassVar[str] = "organisation"


class MemberAdded(Event):
    kind: ClassVar[str] = "organisation.member_added"
    subject_type: ClassVar[str] = "organisation"
    account: str
    role: str


class TokenIssued(Event):
    kind: ClassVar[str] = "token.issued"
    subject_type: ClassVar[str] = "token"
    scopes: list[str]
    expires: str


class TokenRevoked(Event):
    kind: ClassVar[str] = "token.revoked"
    subject_type: ClassVar[str] = "token"
