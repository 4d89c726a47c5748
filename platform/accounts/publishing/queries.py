"""Reads about trusted publishers: an organisation's own, and which one a job belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from accounts.models import Membership, Organisation
from accounts.publishing import policies
from accounts.publishing.claims import Identity
from accounts.publishing.models import CiGrant, Dialect, ReviewedIssuer, TrustedPublisher
from accounts.publishing.policies import Terms
from accounts.publishing.refusals import Cause, IdentityRefused, refused
from accounts.publishing.verification import Issuer


def issuers_for(organisation: Organisation) -> dict[str, str]:
    """By address: the dialect of every issuer that the organisation may name."""
    reviewed = ReviewedIssuer.live().filter(organisation=organisation)
    return {**settings.OIDC_ISSUERS, **dict(reviewed.values_list("address", "dialect"))}


def publishers_of(organisation: Organisation) -> list[TrustedPublisher]:
    """Live ones first, then those that were removed, each newest first."""
    rows = TrustedPublisher.objects.filter(organisation=organisation).select_related("registered_by")
    return sorted(rows.order_by("-registered_at"), key=lambda row: row.ended_at is not None)


def publisher_of(organisation: Organisation, publisher_id: UUID) -> TrustedPublisher | None:
    return TrustedPublisher.objects.filter(organisation=organisation, id=publisher_id).first()


def terms_of(row: TrustedPublisher) -> Terms:
    return Terms(
        row.issuer, row.dialect, row.repository, row.owner_id, row.workflow, row.ref, row.environment
    )


def candidates(identity: Identity, issuer: Issuer) -> list[TrustedPublisher]:
    """All that name the job's issuer and repository, removed ones too; no others are ever spoken of."""
    rows = TrustedPublisher.objects.select_related("organisation", "registered_by").filter(
        issuer=identity.issuer, repository=identity.repository
    )
    if issuer.organisation_id is not None:
        rows = rows.filter(organisation_id=issuer.organisation_id)
    return list(rows.order_by("registered_at"))


def chosen(rows: Sequence[TrustedPublisher], identity: Identity) -> TrustedPublisher:
    """The one that the job matches. Raises IdentityRefused: oidc_no_publisher, oidc_mismatch, oidc_ambiguous,
    publisher_removed, and what `require_live` raises."""
    if not rows:
        raise no_publisher(identity)
    matching = [row for row in rows if policies.first_mismatch(terms_of(row), identity) is None]
    live = [row for row in matching if row.ended_at is None]
    if len({row.harness_id for row in live}) > 1:
        raise IdentityRefused(Cause.AMBIGUOUS)
    if live:
        found = next((row for row in live if _may_act(row)), live[0])
        require_live(found)
        return found
    if matching:
        raise IdentityRefused(Cause.PUBLISHER_REMOVED)
    differs = policies.mismatch(terms_of(nearest(rows, identity)), identity)
    assert differs is not None
    raise differs


def _may_act(row: TrustedPublisher) -> bool:
    try:
        require_live(row)
    except IdentityRefused:
        return False
    return True


def nearest(rows: Sequence[TrustedPublisher], identity: Identity) -> TrustedPublisher:
    """The live one that agrees with the job for the longest; a removed one only where none is live."""
    counted = [row for row in rows if row.ended_at is None] or rows
    return policies.nearest([(terms_of(row), row) for row in counted], identity)[1]


def no_publisher(identity: Identity) -> IdentityRefused:
    claim = "repository" if identity.dialect == Dialect.GITHUB else "project_path"
    return refused(Cause.NO_PUBLISHER, field=claim, received=identity.received["repository"])


def require_live(row: TrustedPublisher) -> None:
    """Raises IdentityRefused where the publisher was removed, or who is behind it may not act any more."""
    if row.ended_at is not None:
        raise IdentityRefused(Cause.PUBLISHER_REMOVED)
    membership = require_person(row)
    if not membership.may_submit:
        raise IdentityRefused(Cause.PUBLISHER_ORPHANED)
    if row.organisation.state == Organisation.State.SUSPENDED:
        raise IdentityRefused(Cause.ORGANISATION_SUSPENDED)


def require_person(row: TrustedPublisher) -> Membership:
    """Raises IdentityRefused where who registered it is suspended, or no member any more."""
    person = row.registered_by
    if person.is_suspended or not person.is_active:
        raise IdentityRefused(Cause.PUBLISHER_SUSPENDED)
    found = Membership.objects.filter(user=person, organisation_id=row.organisation_id).first()
    if found is None:
        raise IdentityRefused(Cause.PUBLISHER_ORPHANED)
    return found


def digest(secret: str) -> str:
    """Under which a credential is kept. Its 32 random bytes need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def grant_with(secret: str) -> CiGrant | None:
    """The grant one of whose two credentials this is."""
    found = digest(secret)
    rows = CiGrant.objects.select_related("publisher__organisation", "publisher__registered_by")
    return rows.filter(Q(act_digest=found) | Q(watch_digest=found)).first()
