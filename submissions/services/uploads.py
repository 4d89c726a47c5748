"""Bytes on their way in: presigned parts for the API, a stream for the web form, the same checks for both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import BinaryIO
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Actor
from config import clock
from submissions import events
from submissions.intake import LARGEST, Kind, kind_of
from submissions.models import HarnessVersion, Submission, Upload
from submissions.policies import Purpose
from submissions.problems import Code, FieldError, Refusal, Refused, refuse
from submissions.queries.ledger import shut_everywhere
from submissions.services import quarantine, standing
from submissions.services.quarantine import PART_BYTES, Received

LIFETIME = timedelta(hours=24)
"""How long an upload may take and wait to be submitted."""

VERIFY_PATIENCE = timedelta(minutes=5)
"""After this a check that was begun and never ended may be begun again."""

AT_ONCE = 100
"""How many uploads of one organisation may lie in quarantine."""

SHA256 = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class Part:
    """Where to PUT one part. The URL is a secret: it stands in answers only, never in logs, errors or rows."""

    number: int
    url: str
    size: int


def require_use(
    version: HarnessVersion, *, sha256: str, by: Actor, purpose: Purpose = Purpose.SUBMISSION
) -> None:
    """Raises Refused by the quota where a package sent now could serve `purpose` on no open version while it lies here.

    One that was submitted before may come again: it is answered by the earlier submission and costs nothing; so may one
    whose version was offered a re-run.
    """
    until = clock.now() + LIFETIME
    refusal = shut_everywhere(version.harness, account=by.account, until=until, purpose=purpose)
    if refusal is None or version.rerun_offers.filter(state="open", expires_at__gt=until - LIFETIME).exists():
        return
    lineage = version.harness.organisation.lineage_id
    if sha256 and Submission.objects.filter(organisation__lineage_id=lineage, package_digest=sha256).exists():
        return
    raise Refused(refusal)


def open_upload(
    version: HarnessVersion, *, sha256: str, size: int, by: Actor, kind: Kind = Kind.BUNDLE
) -> Upload:
    """Declare a package: its SHA-256 in lower-case hex, its bytes and its kind, by which its size is bounded.

    `sign_parts` then says where to send it. The bytes that come decide what it is; see `complete_upload`.

    Raises Refused: invalid_field, package_too_large, package_empty, standing.
    """
    standing.require(version.harness.organisation, by)
    if not SHA256.match(sha256):
        error = FieldError("$.sha256", "64 lower-case hexadecimal digits")
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[error]))
    _require_size(size, kind)
    with transaction.atomic():
        upload = _create(version, Upload.Channel.API, by, sha256=sha256, size=size)
        upload.multipart_id = quarantine.begin(upload.key)
        upload.save(update_fields=["multipart_id"])
    return upload


def sign_parts(upload: Upload) -> list[Part]:
    """Fresh addresses for every part of an open upload, so that an interrupted one can be resumed."""
    if upload.state != Upload.State.OPEN or upload.size is None:
        return []
    sizes = quarantine.part_sizes(upload.size)
    seconds = max(int((upload.expires_at - clock.now()).total_seconds()), 1)
    return [
        Part(number, quarantine.sign(upload.key, upload.multipart_id, number, size, seconds), size)
        for number, size in enumerate(sizes, start=1)
    ]


def complete_upload(upload_id: UUID, *, parts: Sequence[tuple[int, str]], by: Actor) -> Upload:
    """Join the parts (number, ETag), compare size and SHA-256 with what was declared; complete, or failed with a code.

    What is neither a bundle nor an image archive by its first bytes, or too large for what it is, fails here already,
    before a submission could be spent on it. A failed upload's bytes are
    deleted, and Refused carries its code. Repeating it after success changes nothing.
    """
    upload = _begin_verifying(upload_id, by)
    if upload.state in (Upload.State.COMPLETE, Upload.State.CONSUMED):
        return upload
    try:
        quarantine.join(upload.key, upload.multipart_id, parts)
        received = quarantine.measure(upload.key, LARGEST)
    except quarantine.PartsWrong:
        return _fail(upload, Refusal(Code.UPLOAD_PARTS_WRONG), by)
    except quarantine.Nothing:
        return _fail(upload, Refusal(Code.UPLOAD_MISSING), by)
    if refusal := _difference(upload, received):
        return _fail(upload, refusal, by)
    return _end(upload.pk, Upload.State.COMPLETE, by, received=received)


def receive_stream(
    version: HarnessVersion, stream: BinaryIO, *, by: Actor, declared_sha256: str | None = None
) -> Upload:
    """The web form's way: read `stream` once into quarantine, with the same checks as the API's way.

    Returns a complete upload. Raises Refused: package_too_large, package_empty, hash_mismatch,
    package_not_gzip, standing.
    """
    standing.require(version.harness.organisation, by)
    if declared_sha256 and not SHA256.match(declared_sha256):
        raise Refused(Refusal(Code.INVALID_FIELD, errors=[FieldError("$.sha256", "64 hexadecimal digits")]))
    with transaction.atomic():
        upload = _create(version, Upload.Channel.WEB, by, sha256=declared_sha256 or "", size=None)
    upload = _begin_verifying(upload.pk, by)
    try:
        received = quarantine.write(upload.key, stream, LARGEST)
    except quarantine.TooLarge:
        return _fail(upload, Refusal(Code.PACKAGE_TOO_LARGE, {"limit": LARGEST}), by)
    if received.size == 0:
        return _fail(upload, Refusal(Code.PACKAGE_EMPTY), by)
    if declared_sha256 and declared_sha256 != received.sha256:
        return _fail(upload, Refusal(Code.HASH_MISMATCH), by)
    if refusal := _unfit(received):
        return _fail(upload, refusal, by)
    return _end(upload.pk, Upload.State.COMPLETE, by, received=received)


def abort_upload(upload_id: UUID, *, by: Actor) -> Upload:
    """Give up an upload that no submission has used; its bytes leave quarantine. Raises Refused: upload_used."""
    upload = Upload.objects.select_related("harness_version__harness__organisation").get(pk=upload_id)
    standing.require(upload.harness_version.harness.organisation, by)
    upload = _end(upload_id, Upload.State.ABORTED, by)
    if upload.state == Upload.State.CONSUMED:
        raise refuse(Code.UPLOAD_USED)
    quarantine.discard(upload.key, upload.multipart_id)
    return upload


def _require_size(size: int, kind: Kind) -> None:
    if size <= 0:
        raise refuse(Code.PACKAGE_EMPTY)
    if size > kind.packed:
        raise refuse(Code.PACKAGE_TOO_LARGE, limit=kind.packed)


def _create(version: HarnessVersion, channel: str, by: Actor, *, sha256: str, size: int | None) -> Upload:
    now = clock.now()
    waiting = Upload.objects.filter(
        harness_version__harness__organisation_id=version.harness.organisation_id, removed_at__isnull=True
    ).exclude(state=Upload.State.CONSUMED)
    if waiting.count() >= AT_ONCE:
        raise refuse(Code.TOO_MANY_UPLOADS, limit=AT_ONCE)
    upload = Upload.objects.create(
        harness_version=version,
        channel=channel,
        sha256=sha256,
        size=size,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    event = events.UploadOpened(
        subject=upload.id, harness_version=str(version.id), sha256=sha256 or None, size=size
    )
    log.append(event, by=by)
    return upload


def _begin_verifying(upload_id: UUID, by: Actor) -> Upload:
    """Take the upload in hand, or return it as it is if it is complete. Raises Refused for every other state."""
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload_id)
        standing.require(upload.harness_version.harness.organisation, by)
        if upload.state in (Upload.State.COMPLETE, Upload.State.CONSUMED):
            return upload
        now = clock.now()
        if upload.state == Upload.State.VERIFYING:
            if upload.verifying_since and now - upload.verifying_since < VERIFY_PATIENCE:
                raise refuse(Code.UPLOAD_NOT_OPEN, state=upload.state)
        elif upload.state != Upload.State.OPEN:
            raise refuse(Code.UPLOAD_NOT_OPEN, state=upload.state)
        if upload.expires_at <= now:
            raise refuse(Code.UPLOAD_EXPIRED)
        upload.state, upload.verifying_since = Upload.State.VERIFYING, now
        upload.save(update_fields=["state", "verifying_since"])
        log.append(events.UploadVerifying(subject=upload.id), by=by)
    return upload


def _difference(upload: Upload, received: Received) -> Refusal | None:
    declared = upload.size or 0
    facts = {"received": received.size, "declared": declared}
    if received.size < declared:
        return Refusal(Code.UPLOAD_TRUNCATED, facts)
    if received.size > declared:
        return Refusal(Code.UPLOAD_TOO_LONG, facts)
    if received.sha256 != upload.sha256:
        return Refusal(Code.HASH_MISMATCH)
    return _unfit(received)


def _unfit(received: Received) -> Refusal | None:
    """Why no package of either kind can have arrived."""
    kind = kind_of(received.start)
    if kind is None:
        return Refusal(Code.PACKAGE_NOT_GZIP)
    if received.size > kind.packed:
        return Refusal(Code.PACKAGE_TOO_LARGE, {"limit": kind.packed})
    return None


def _fail(upload: Upload, refusal: Refusal, by: Actor) -> Upload:
    """Record why, delete the bytes, and tell."""
    _end(upload.pk, Upload.State.FAILED, by, cause=refusal.code)
    quarantine.discard(upload.key, upload.multipart_id)
    raise Refused(refusal)


def _end(
    upload_id: UUID, state: str, by: Actor, *, cause: Code | None = None, received: Received | None = None
) -> Upload:
    """Move an upload to `state` unless it has got to an end of its own; the row as it is then."""
    movable = (Upload.State.OPEN, Upload.State.VERIFYING, Upload.State.COMPLETE)
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload_id)
        if upload.state not in movable or upload.state == state:
            return upload
        upload.state, upload.failure = state, cause or ""
        now = clock.now()
        if received is not None:
            upload.sha256, upload.size, upload.completed_at = received.sha256, received.size, now
        if state != Upload.State.COMPLETE:
            upload.removed_at = now
        upload.save()
        event = events.UploadEnded(
            subject=upload.id,
            outcome=state,
            cause=cause,
            sha256=upload.sha256 or None,
            size=upload.size,
        )
        log.append(event, by=by)
    return upload


__all__ = [
    "LIFETIME",
    "PART_BYTES",
    "Part",
    "abort_upload",
    "complete_upload",
    "open_upload",
    "receive_stream",
    "sign_parts",
]
