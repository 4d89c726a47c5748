"""Issuers that the site cannot reach: proposed with their keys by one administrator, approved by another."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

from django.conf import settings
from django.db import transaction

from accounts.duties.queries import require, standing
from accounts.duties.refusals import DutyRefused, Reason
from accounts.duties.table import Decision, Duty
from accounts.models import Organisation, User
from accounts.publishing import events, keys
from accounts.publishing.issuer_refusals import IssuerRefused
from accounts.publishing.issuer_refusals import Reason as Why
from accounts.publishing.models import REVIEWED_FOR, Dialect, ReviewedIssuer
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock
from config.settings.oidc import is_issuer


def propose(
    organisation: Organisation, *, address: str, dialect: str, jwks: bytes, reason: str, by: Actor
) -> ReviewedIssuer:
    """Raises IssuerRefused, and DutyRefused where `by` is no administrator."""
    if dialect not in Dialect.values or not is_issuer(address) or not address.startswith("https://"):
        raise IssuerRefused(Why.ADDRESS)
    if address in settings.OIDC_ISSUERS:
        raise IssuerRefused(Why.PUBLISHED)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)
    _require_administrator(by)
    with transaction.atomic():
        row = ReviewedIssuer.objects.create(
            organisation=organisation,
            address=address,
            dialect=dialect,
            jwks=_public(jwks),
            jwks_digest=hashlib.sha256(jwks).hexdigest(),
            reason=reason.strip(),
            proposed_by=_person(by),
            proposed_at=clock.now(),
        )
        event = events.IssuerProposed(
            subject=row.id,
            organisation=str(organisation.id),
            proposed_by=by.id,
            at=timestamp(row.proposed_at),
            address=concealed(address),
            keys=row.jwks_digest,
            reason=concealed(row.reason),
        )
        log.append(event, by=by)
    return row


def approve(issuer: ReviewedIssuer, *, days: int, by: Actor) -> ReviewedIssuer:
    """Believe its keys for so many days, at most 90. Raises IssuerRefused, DutyRefused."""
    if not 0 < days <= REVIEWED_FOR.days:
        raise IssuerRefused(Why.DAYS)
    with transaction.atomic():
        row = ReviewedIssuer.objects.select_for_update().get(pk=issuer.pk)
        if row.approved_at is not None or row.ended_at is not None:
            raise IssuerRefused(Why.OVER)
        require(
            Decision.ISSUER,
            proposed=row.proposed_by.actor("command"),
            approved=by,
            concerned=[row.organisation.lineage_id],
        )
        _end_earlier(row, by)
        row.approved_by, row.approved_at = _person(by), clock.now()
        row.ends_at = row.approved_at + timedelta(days=days)
        row.save(update_fields=["approved_by", "approved_at", "ends_at"])
        event = events.IssuerApproved(
            subject=row.id, approved_by=by.id, at=timestamp(row.approved_at), ends=timestamp(row.ends_at)
        )
        log.append(event, by=by)
    return row


def end(issuer: ReviewedIssuer, *, by: Actor) -> ReviewedIssuer:
    """Believe it no more, or withdraw the proposal: one administrator does. Raises IssuerRefused, DutyRefused."""
    _require_administrator(by)
    with transaction.atomic():
        row = ReviewedIssuer.objects.select_for_update().get(pk=issuer.pk)
        if row.ended_at is not None:
            raise IssuerRefused(Why.OVER)
        _end(row, by)
    return row


def _end_earlier(row: ReviewedIssuer, by: Actor) -> None:
    """New keys of an issuer take the place of its old ones."""
    earlier = ReviewedIssuer.objects.select_for_update().filter(
        address=row.address, approved_at__isnull=False, ended_at=None
    )
    for old in earlier:
        if old.organisation_id != row.organisation_id and old.ends_at and old.ends_at > clock.now():
            raise IssuerRefused(Why.TAKEN)
        _end(old, by)


def _end(row: ReviewedIssuer, by: Actor) -> None:
    row.ended_by, row.ended_at = _person(by), clock.now()
    row.save(update_fields=["ended_by", "ended_at"])
    log.append(events.IssuerEnded(subject=row.id, ended_by=by.id, at=timestamp(row.ended_at)), by=by)


def _public(jwks: bytes) -> dict[str, object]:
    try:
        found = keys.usable(json.loads(jwks))
    except (ValueError, RecursionError) as error:
        raise IssuerRefused(Why.KEYS) from error
    return {"keys": list(found.values())}


def _require_administrator(by: Actor) -> None:
    if Duty.ADMINISTRATOR not in standing(by).duties:
        raise DutyRefused(Reason.NOT_ADMINISTRATOR)


def _person(actor: Actor) -> User:
    return User.objects.get(pseudonym=actor.id)
