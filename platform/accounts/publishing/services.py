"""Every change about trusted publishers: one transaction each, with its audit event."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.models import Organisation, User
from accounts.publishing import events, policies, queries
from accounts.publishing.claims import Identity
from accounts.publishing.models import CiGrant, TrustedPublisher, UsedIdentity
from accounts.publishing.policies import Terms
from accounts.publishing.refusals import Cause, IdentityRefused, refused
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock
from config.ids import opaque_id

PREFIX = "lgb_ci_"
ACT_LIFETIME = timedelta(minutes=15)
WATCH_LIFETIME = timedelta(days=60)
"""The longest; it ends seven days after its submission."""
WATCH_AFTER_END = timedelta(days=7)
KEPT_AFTER_EXPIRY = timedelta(days=1)
"""How long a used token is remembered when it has expired: far longer than any leeway."""


@dataclass(frozen=True)
class Exchanged:
    """The only place where the two secrets ever are."""

    grant: CiGrant
    act: str
    watch: str


def register(
    organisation: Organisation, harness_id: UUID, terms: Terms, *, person: User, by: Actor
) -> TrustedPublisher:
    """Trust such jobs to act for the harness, which the caller has found to be the organisation's own.

    Raises IdentityRefused: publisher_invalid, publisher_exists.
    """
    if queries.issuers_for(organisation).get(terms.issuer) != terms.dialect:
        raise refused(Cause.PUBLISHER_INVALID, field="issuer", received=terms.issuer)
    found = policies.registrable(terms)
    try:
        with transaction.atomic():
            row = TrustedPublisher.objects.create(
                organisation=organisation,
                harness_id=harness_id,
                registered_by=person,
                registered_at=clock.now(),
                **asdict(found),
            )
            event = events.PublisherRegistered(
                subject=row.id,
                organisation=str(organisation.id),
                harness=str(harness_id),
                registered_by=str(person.pseudonym),
                terms=concealed(json.dumps(asdict(found), sort_keys=True)),
            )
            log.append(event, by=by)
    except IntegrityError as error:
        if "publisher_once" not in str(error):
            raise
        known = TrustedPublisher.objects.filter(harness_id=harness_id, ended_at=None, **asdict(found)).first()
        raise IdentityRefused(
            Cause.PUBLISHER_EXISTS, {"publisher": str(known.id) if known else "–"}
        ) from None
    return row


def remove(publisher: TrustedPublisher, *, person: User, by: Actor) -> TrustedPublisher:
    """From this moment no job is believed for its sake, and what lets one act is refused. Again, it changes nothing."""
    with transaction.atomic():
        row = TrustedPublisher.objects.select_for_update().get(pk=publisher.pk)
        if row.ended_at is None:
            row.ended_at, row.ended_by = clock.now(), person
            row.save(update_fields=["ended_at", "ended_by"])
            event = events.PublisherRemoved(
                subject=row.id, ended_by=str(person.pseudonym), at=timestamp(row.ended_at)
            )
            log.append(event, by=by)
    return row


def exchange(identity: Identity, publisher: TrustedPublisher) -> Exchanged:
    """Use up the identity and give the job its two credentials. Raises IdentityRefused: oidc_replayed
    and what `queries.require_live` raises; then the identity is not used up."""
    now = clock.now()
    act, watch = _secret(), _secret()
    with transaction.atomic():
        row = (
            TrustedPublisher.objects.select_for_update(of=("self",))
            .select_related("organisation", "registered_by")
            .get(pk=publisher.pk)
        )
        queries.require_live(row)
        _use_up(identity)
        grant = CiGrant.objects.create(
            id=opaque_id(),
            publisher=row,
            act_digest=queries.digest(act),
            act_expires_at=now + ACT_LIFETIME,
            watch_digest=queries.digest(watch),
            watch_expires_at=now + WATCH_LIFETIME,
            issued_at=now,
        )
        event = events.CiExchanged(
            subject=grant.id,
            publisher=str(row.id),
            harness=str(row.harness_id),
            act_expires=timestamp(grant.act_expires_at),
            watch_expires=timestamp(grant.watch_expires_at),
        )
        log.append(event, by=actor_of(grant))
    return Exchanged(grant, act, watch)


def is_used(identity: Identity) -> bool:
    return UsedIdentity.objects.filter(issuer=identity.issuer, jti=identity.jti).exists()


def actor_of(grant: CiGrant) -> Actor:
    """The job, on behalf of the account of who registered its publisher."""
    publisher = grant.publisher
    return Actor(
        kind="ci",
        id=str(grant.id),
        organisation=str(publisher.organisation_id),
        channel="api",
        account=publisher.registered_by.id,
    )


def bind_watch(by: Actor, submission_id: UUID, *, harness_id: UUID) -> None:
    """Let the job's other credential watch what it has submitted; runs in the admission's transaction.

    Raises IdentityRefused (act_used) where the job made another submission before.
    """
    grant = CiGrant.objects.select_for_update(of=("self",)).select_related("publisher").get(pk=by.id)
    if grant.publisher.harness_id != harness_id:
        raise ValueError("a job's credentials are for one harness")
    if grant.submission_id == submission_id:
        return
    if grant.submission_id is not None:
        raise IdentityRefused(Cause.ACT_USED, {"submission": str(grant.submission_id)})
    CiGrant.objects.filter(pk=grant.pk).update(submission_id=submission_id)
    log.append(events.CiBound(subject=grant.id, submission=str(submission_id)), by=by)


def _use_up(identity: Identity) -> None:
    """Raises IdentityRefused (oidc_replayed). Two at once wait for each other on the unique key."""
    now = clock.now()
    UsedIdentity.objects.filter(kept_until__lt=now).delete()
    try:
        with transaction.atomic():
            UsedIdentity.objects.create(
                issuer=identity.issuer,
                jti=identity.jti,
                used_at=now,
                kept_until=identity.expires_at + KEPT_AFTER_EXPIRY,
            )
    except IntegrityError:
        raise refused(Cause.REPLAYED, field="jti", received=identity.jti) from None


def _secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)
