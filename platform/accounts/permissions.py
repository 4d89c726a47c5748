"""Which credential, in whose hands, may do what over the API: one table, closed by default.

An authentication class sets `request.user` (the person who answers for the call) and `request.auth`: None for a
browser session, else an object with the members of `Presented`. A view names one `Permission` for each of its
methods, and `refused` decides by the table below. What is not in the table, nobody may.

Whose object it is, is decided elsewhere (the query layer, `Caller.require_harness`, `Caller.require_submission`),
and so is whether an organisation or account stands well (`submissions.services.standing`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:  # the models import this module
    from accounts.models import Organisation
    from audit.events import Actor


class Credential(StrEnum):
    """What was presented."""

    SESSION = "session"
    """A signed-in browser."""
    TOKEN = "token"  # noqa: S105 - the name of a kind
    """A personal token of a member, with scopes."""
    ACT = "act"
    """A CI job for 15 minutes, for one harness."""
    WATCH = "watch"
    """A CI job that follows the one submission it made."""


CREDENTIAL_WORDS: dict[Credential, Promise] = {
    Credential.SESSION: _("a signed-in session"),
    Credential.TOKEN: _("a personal token"),
    Credential.ACT: _("a CI credential to act"),
    Credential.WATCH: _("a CI credential to watch"),
}


class Scope(StrEnum):
    """What a personal token was made for, from the least to the most."""

    READ = "read"
    PREFLIGHT = "preflight"
    SUBMIT = "submit"


class Permission(StrEnum):
    HARNESS_READ = "harness:read"
    HARNESS_WRITE = "harness:write"
    """Register harnesses and versions."""
    UPLOAD_READ = "upload:read"
    """The state of an upload, and addresses signed anew to send its parts to: no mere reader's affair."""
    UPLOAD_WRITE = "upload:write"
    SUBMISSION_LIST = "submission:list"
    SUBMISSION_READ = "submission:read"
    SUBMISSION_SUBMIT = "submission:submit"
    SUBMISSION_CANCEL = "submission:cancel"
    SUBMISSION_CHOICE = "submission:choice"
    """Keep or void an incomplete one: people decide that."""
    PREFLIGHT_START = "preflight:start"
    """Start and cancel a preflight on its own."""
    PREFLIGHT_LIST = "preflight:list"
    """Preflights on their own: how they stand, and their logs."""
    PREFLIGHT_READ = "preflight:read"
    """The preflight of a submission."""
    RESULT_READ = "result:read"
    RECEIPT_READ = "receipt:read"
    QUOTA_READ = "quota:read"
    WEBHOOK_READ = "webhook:read"
    WEBHOOK_WRITE = "webhook:write"
    PUBLISHER_READ = "publisher:read"
    PUBLISHER_WRITE = "publisher:write"
    UPSTREAM_READ = "upstream:read"
    UPSTREAM_WRITE = "upstream:write"
    UPSTREAM_TEST = "upstream:test"
    TOKEN_READ = "token:read"  # noqa: S105 - the name of a permission
    TOKEN_WRITE = "token:write"  # noqa: S105 - the name of a permission
    TOKEN_REVOKE = "token:revoke"  # noqa: S105 - the name of a permission
    """Whose tokens, is decided with the token at hand."""


@dataclass(frozen=True)
class Rule:
    """Who may: these credentials, in the hands of these roles; a personal token with one of these scopes."""

    credentials: frozenset[Credential]
    roles: frozenset[str]
    scopes: frozenset[Scope]


class Reason(StrEnum):
    """Why not."""

    CREDENTIAL = "credential"
    SCOPE = "scope"
    ROLE = "role"


@runtime_checkable
class Presented(Protocol):
    """What `request.auth` is for every credential but a session. All of it is read afresh for each request."""

    @property
    def kind(self) -> Credential: ...

    @property
    def organisation(self) -> Organisation:
        """The one it acts for."""

    @property
    def role(self) -> str:
        """A `Membership.Role`: what the person who answers for it may do there now."""

    @property
    def harness_id(self) -> UUID | None:
        """The one harness it is limited to."""

    @property
    def submission_id(self) -> UUID | None:
        """The one submission it is limited to."""

    @property
    def scopes(self) -> Collection[str]:
        """Of a personal token; empty for the others."""

    def actor(self) -> Actor:
        """As events name whoever acts with it; its id is what requests are counted by."""


_S, _T, _A, _W = Credential.SESSION, Credential.TOKEN, Credential.ACT, Credential.WATCH
_OWNER, _SUBMITTER, _VIEWER = "owner", "submitter", "viewer"
_ALL = (_OWNER, _SUBMITTER, _VIEWER)
_WRITERS = (_OWNER, _SUBMITTER)
_READ, _PREFLIGHT, _SUBMIT = Scope.READ, Scope.PREFLIGHT, Scope.SUBMIT

_ROWS: dict[Permission, tuple[tuple[Credential, ...], tuple[str, ...], tuple[Scope, ...]]] = {
    # permission                   credentials        roles     scopes of a personal token, any of
    Permission.HARNESS_READ: ((_S, _T, _A), _ALL, (_READ, _PREFLIGHT)),
    Permission.HARNESS_WRITE: ((_S, _T, _A), _WRITERS, (_PREFLIGHT, _SUBMIT)),
    Permission.UPLOAD_READ: ((_S, _T, _A, _W), _WRITERS, (_PREFLIGHT, _SUBMIT)),
    Permission.UPLOAD_WRITE: ((_S, _T, _A), _WRITERS, (_PREFLIGHT, _SUBMIT)),
    Permission.SUBMISSION_LIST: ((_S, _T, _A), _ALL, (_READ,)),
    Permission.SUBMISSION_READ: ((_S, _T, _A, _W), _ALL, (_READ,)),
    Permission.SUBMISSION_SUBMIT: ((_S, _T, _A), _WRITERS, (_SUBMIT,)),
    Permission.SUBMISSION_CANCEL: ((_S, _T, _A), _WRITERS, (_SUBMIT,)),
    Permission.SUBMISSION_CHOICE: ((_S, _T), _WRITERS, (_SUBMIT,)),
    Permission.PREFLIGHT_START: ((_S, _T, _A), _WRITERS, (_PREFLIGHT, _SUBMIT)),
    Permission.PREFLIGHT_LIST: ((_S, _T, _A), _ALL, (_READ, _PREFLIGHT)),
    Permission.PREFLIGHT_READ: ((_S, _T, _W), _ALL, (_READ, _PREFLIGHT)),
    Permission.RESULT_READ: ((_S, _T, _W), _ALL, (_READ,)),
    Permission.RECEIPT_READ: ((_S, _T, _A, _W), _ALL, (_READ,)),
    Permission.QUOTA_READ: ((_S, _T, _A), _ALL, (_READ, _PREFLIGHT)),
    Permission.WEBHOOK_READ: ((_S, _T), _ALL, (_READ,)),
    Permission.WEBHOOK_WRITE: ((_S,), _WRITERS, ()),
    Permission.PUBLISHER_READ: ((_S, _T), _ALL, (_READ,)),
    Permission.PUBLISHER_WRITE: ((_S,), _WRITERS, ()),
    Permission.UPSTREAM_READ: ((_S, _T), _ALL, (_READ,)),
    Permission.UPSTREAM_WRITE: ((_S,), _WRITERS, ()),
    Permission.UPSTREAM_TEST: ((_S, _T), _WRITERS, (_PREFLIGHT, _SUBMIT)),
    Permission.TOKEN_READ: ((_S,), _ALL, ()),
    Permission.TOKEN_WRITE: ((_S,), _WRITERS, ()),
    Permission.TOKEN_REVOKE: ((_S,), _ALL, ()),
}

TABLE: dict[Permission, Rule] = {
    permission: Rule(frozenset(credentials), frozenset(roles), frozenset(scopes))
    for permission, (credentials, roles, scopes) in _ROWS.items()
}


def refused(
    permission: Permission, *, credential: Credential, role: str, scopes: Collection[str]
) -> Reason | None:
    """None where the table allows it, else the first reason why not."""
    rule = TABLE[permission]
    if credential not in rule.credentials:
        return Reason.CREDENTIAL
    if credential == Credential.TOKEN and not rule.scopes & set(scopes):
        return Reason.SCOPE
    return None if role in rule.roles else Reason.ROLE


def scope_for(permission: Permission) -> Scope:
    """The least scope by which a personal token may; for permissions that some scope opens."""
    return next(scope for scope in Scope if scope in TABLE[permission].scopes)


def credentials_for(permission: Permission) -> list[str]:
    """In words, what may be presented."""
    allowed = TABLE[permission].credentials
    return [str(CREDENTIAL_WORDS[credential]) for credential in Credential if credential in allowed]
