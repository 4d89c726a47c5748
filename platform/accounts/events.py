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
