"""What the scheduler finds each minute: moves that are due although a ticket was lost, deadlines, leftovers."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, transaction

from audit import log
from audit.events import system
from config import clock
from submissions import events
from submissions.models import IdempotencyRecord, Upload
from submissions.queries.staff import due_submissions, due_uploads
from submissions.queueing import services as queueing
from submissions.services import quarantine
from submissions.services.following import follow_upstreams
from submissions.services.idempotency import KEPT
from submissions.services.progress import advance

logger = logging.getLogger(__name__)

SWEEPER = "sweep"
GRACE = timedelta(minutes=5)


def sweep() -> None:
    """Advance every submission that is not at an end; empty quarantine of what is over; forget old keys."""
    for submission_id in due_submissions():
        try:
            advance(submission_id)
        except DatabaseError:
            raise
        except Exception:  # one submission must not keep the others waiting
            logger.exception("submission %s does not advance", submission_id)
    queueing.renew_due()
    follow_upstreams()
    for upload_id in due_uploads(clock.now()):
        remove_upload(upload_id)
    IdempotencyRecord.objects.filter(created_at__lte=clock.now() - KEPT).delete()


def remove_upload(upload_id: UUID) -> None:
    """Take an upload's bytes out of quarantine once they are of no use; doing it again changes nothing."""
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload_id)
        if upload.removed_at is not None:
            return
        now = clock.now()
        unused = (Upload.State.OPEN, Upload.State.VERIFYING, Upload.State.COMPLETE)
        if upload.state in unused:
            if upload.expires_at > now:
                return
            upload.state = Upload.State.EXPIRED
        upload.removed_at = now
        upload.save(update_fields=["state", "removed_at"])
        log.append(events.UploadRemoved(subject=upload.id, outcome=upload.state), by=system(SWEEPER))
        transaction.on_commit(lambda: quarantine.discard(upload.key, upload.multipart_id))
