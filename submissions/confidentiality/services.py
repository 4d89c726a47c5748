"""Opening a package takes two people; each reading is recorded first; the vendor is told; at its date it is deleted."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, BinaryIO
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q

from accounts.duties import queries as duties
from accounts.duties.policies import Standing
from accounts.duties.refusals import DutyRefused, Reason, refusing
from accounts.duties.table import DECISIONS, DUTIES, Decision, Sight
from accounts.models import User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify_organisation
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from audit.texts import concealed
from config import clock, store, vault
from evaluation import packages
from evaluation.models import StoredPackage
from submissions import events, tickets
from submissions.confidentiality.models import LONGEST_HOURS, PackageDeletion, PackageOpening
from submissions.models import Submission
from submissions.problems import Code, FieldError, Refusal, Refused, refuse

logger = structlog.get_logger(__name__)
RULE = DECISIONS[Decision.UNBLINDING]
HOLDING: dict[str, Any] = {"ended_at": None, "approved_at__isnull": False}
"""Openings that keep a package from being deleted: a mere proposal does not."""
LAPSE = timedelta(days=7)
"""A proposal that nobody approved by then is over."""


def propose(submission_id: UUID, *, hours: int, reason: str, by: Actor) -> PackageOpening:
    """Propose that a package be opened for `hours`. Raises DutyRefused, Refused (package_not_there, opening_exists)."""
    standing = duties.standing(by)
    if not standing.duties & RULE.proposers:
        raise DutyRefused(Reason.NOT_ENTITLED)
    if not reason.strip():
        raise DutyRefused(Reason.NO_REASON)
    if not 1 <= hours <= LONGEST_HOURS:
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[FieldError("$.hours", f"1 to {LONGEST_HOURS}")]))
    with transaction.atomic():
        submission = Submission.of_any_scope.select_for_update(of=("self",)).select_related("organisation")
        found = submission.get(pk=submission_id)
        _require_stranger(found, standing)
        if found.package_id is None or PackageDeletion.objects.filter(submission=found).exists():
            raise refuse(Code.PACKAGE_NOT_THERE)
        if PackageOpening.objects.filter(submission=found, ended_at=None).exists():
            raise refuse(Code.OPENING_EXISTS)
        row = PackageOpening.objects.create(
            submission=found,
            hours=hours,
            reason=reason.strip(),
            proposed_by=User.objects.get(pseudonym=by.id),
            proposed_at=clock.now(),
        )
        event = events.OpeningProposed(
            subject=row.id,
            submission=str(found.id),
            hours=hours,
            proposed_by=by.id,
            reason=concealed(row.reason),
        )
        log.append(event, by=by)
    return row


def approve(opening_id: UUID, *, by: Actor) -> PackageOpening:
    """Be the second person; a worker then lends the console the key. Raises DutyRefused, Refused (opening_is_over)."""
    with refusing(), transaction.atomic():
        row = _locked(opening_id)
        if row.approved_at is not None:
            raise DutyRefused(Reason.IS_CONFIRMED)
        lineage = row.submission.organisation.lineage_id
        duties.require(
            Decision.UNBLINDING, proposed=row.proposed_by.actor("web"), approved=by, concerned={lineage}
        )
        if PackageDeletion.objects.filter(submission=row.submission).exists():
            raise refuse(Code.PACKAGE_NOT_THERE)
        row.approved_by, row.approved_at = User.objects.get(pseudonym=by.id), clock.now()
        row.closes_at = row.approved_at + timedelta(hours=row.hours)
        row.save(update_fields=["approved_by", "approved_at", "closes_at"])
        event = events.OpeningApproved(
            subject=row.id,
            submission=str(row.submission_id),
            approved_by=by.id,
            at=timestamp(row.approved_at),
            closes=timestamp(row.closes_at),
        )
        log.append(event, by=by)
        tickets.send("submissions.tasks.lend_key", row.id)
    return row


def lend_key(opening_id: UUID, *, by: Actor) -> None:
    """Box the upload's key for the console's process; by a worker, and only while the opening is open."""
    with transaction.atomic():
        row = (
            PackageOpening.objects.select_for_update(of=("self",))
            .select_related("submission__package")
            .get(pk=opening_id)
        )
        package = row.submission.package
        if not row.is_open or bytes(row.boxed_key) or package is None:
            return
        key = vault.unwrap(bytes(package.wrapped_upload_key), under=packages.submission_key(package))
        assert settings.VAULT_BOX_CASE is not None, "this process lends no keys"
        row.boxed_key = vault.box(key, to=settings.VAULT_BOX_CASE, about=row.id.bytes)
        row.save(update_fields=["boxed_key"])
        event = events.OpeningKeyLent(subject=row.id, submission=str(row.submission_id))
        log.append(event, by=by)


def read_package(opening_id: UUID, target: BinaryIO, *, by: Actor) -> None:
    """Write the package, as uploaded, into `target`; the event is committed before the first byte is fetched.

    Raises DutyRefused for who is none of the two or sees no packages, Refused (opening_is_over, opening_not_ready).
    """
    with transaction.atomic():
        row = _locked(opening_id)
        if not row.is_open:
            raise refuse(Code.OPENING_IS_OVER)
        _require_reader(row, by)
        boxed = bytes(row.boxed_key)
        if not boxed:
            raise refuse(Code.OPENING_NOT_READY)
        event = events.PackageRead(
            subject=row.id, submission=str(row.submission_id), package=row.submission.package_digest
        )
        log.append(event, by=by)
    assert settings.VAULT_KEY_CASE is not None, "this process opens no packages"
    key = vault.open_box(boxed, private=settings.VAULT_KEY_CASE, about=row.id.bytes)
    store.fetch_sealed(settings.S3_BUCKET_PACKAGES, object_key(row.submission), target, under=key)


def object_key(submission: Submission) -> str:
    """Where its sealed bytes lie; the console may know the place, not the keys."""
    return f"packages/{submission.package_id}"


def end(opening_id: UUID, *, by: Actor) -> None:
    """End it now, or withdraw the proposal; one of those who could propose or approve it does."""
    standing = duties.standing(by)
    if not standing.duties & (RULE.proposers | RULE.approvers):
        raise DutyRefused(Reason.NOT_ENTITLED)
    with transaction.atomic():
        row = _locked(opening_id)
        _require_stranger(row.submission, standing)
        _end(row, by)


def end_overdue(*, by: Actor) -> None:
    """Close what is past its hours, and proposals that lapsed; lend keys whose ticket was lost."""
    now = clock.now()
    running = PackageOpening.objects.filter(ended_at=None)
    over = Q(closes_at__lte=now) | Q(approved_at=None, proposed_at__lte=now - LAPSE)
    for opening_id in list(running.filter(over).values_list("id", flat=True)):
        with transaction.atomic():
            row = PackageOpening.objects.select_for_update().get(pk=opening_id)
            if row.ended_at is None and (row.approved_at is None or not row.is_open):
                _end(row, by)
    for opening_id in list(running.filter(closes_at__gt=now, boxed_key=b"").values_list("id", flat=True)):
        lend_key(opening_id, by=by)


def _end(row: PackageOpening, by: Actor) -> None:
    """The key goes, and a vendor whose package was open is told in the same transaction."""
    row.ended_at, row.boxed_key = clock.now(), b""
    row.save(update_fields=["ended_at", "boxed_key"])
    event = events.OpeningEnded(
        subject=row.id, submission=str(row.submission_id), outcome="ended" if row.approved_at else "withdrawn"
    )
    log.append(event, by=by)
    if row.approved_at is not None:
        submission = row.submission
        notify_organisation(
            submission.organisation,
            Kind.PACKAGE_OPENED,
            subject=submission.id,
            facts={"submission": str(submission.id)},
            occasion=str(row.id),
        )


def delete_due(*, spared: Collection[UUID] = (), by: Actor) -> int:
    """Delete every package whose date is over and that no open opening holds; returns how many.

    `spared` are submissions whose package somebody still needs.
    """
    ended_before = clock.now() - timedelta(days=settings.PACKAGE_RETENTION_DAYS)
    due = Submission.of_any_scope.filter(
        ended_at__lte=ended_before, package__isnull=False, package_deletion=None
    ).exclude(Q(openings__in=PackageOpening.objects.filter(**HOLDING)) | Q(pk__in=list(spared)))
    count = 0
    for submission_id in list(due.values_list("id", flat=True)[:200]):
        count += _delete(submission_id, ended_before, by)
    return count


def _delete(submission_id: UUID, ended_before: datetime, by: Actor) -> int:
    """Bytes first: if what follows fails, the next sweep does it again, and no row says that they are gone."""
    with transaction.atomic():
        found = (
            Submission.of_any_scope.select_for_update(of=("self",))
            .select_related("package", "organisation")
            .get(pk=submission_id)
        )
        held = PackageOpening.objects.filter(submission=found, **HOLDING).exists()
        gone = PackageDeletion.objects.filter(submission=found).exists()
        package = found.package
        if held or gone or package is None or found.ended_at is None or found.ended_at > ended_before:
            return 0
        store.delete(settings.S3_BUCKET_PACKAGES, package.object_key)
        StoredPackage.objects.filter(pk=package.pk).update(wrapped_upload_key=b"", wrapped_submission_key=b"")
        row = PackageDeletion.objects.create(submission=found, at=clock.now())
        event = events.PackageDeleted(subject=found.id, package=found.package_digest, at=timestamp(row.at))
        log.append(event, by=by)
        notify_organisation(
            found.organisation,
            Kind.PACKAGE_DELETED,
            subject=found.id,
            facts={"submission": str(found.id)},
        )
    return 1


def _locked(opening_id: UUID) -> PackageOpening:
    row = (
        PackageOpening.objects.select_for_update(of=("self",))
        .select_related("submission__organisation", "proposed_by")
        .get(pk=opening_id)
    )
    if row.ended_at is not None:
        raise refuse(Code.OPENING_IS_OVER)
    return row


def _require_stranger(submission: Submission, standing: Standing) -> None:
    if submission.organisation.lineage_id in standing.lineages:
        raise DutyRefused(Reason.OWN_CASE)


def _require_reader(row: PackageOpening, by: Actor) -> None:
    """One of the two, who still holds a duty that sees packages and belongs to nobody concerned."""
    standing = duties.standing(by)
    sees = any(Sight.PACKAGES in DUTIES[duty].sees for duty in standing.duties)
    if str(by.id) not in {str(row.proposed_by_id), str(row.approved_by_id)} or not sees:
        raise DutyRefused(Reason.NOT_ENTITLED)
    _require_stranger(row.submission, standing)
