"""What the scheduler finds each minute: moves that are due although a ticket was lost, deadlines, leftovers."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import system
from config import clock
from config.stepwise import Steps
from submissions import events
from submissions.models import IdempotencyRecord, Upload
from submissions.queries.staff import due_submissions, due_uploads
from submissions.queueing import services as queueing
from submissions.services import quarantine
from submissions.services.following import follow_upstreams
from submissions.services.idempotency import KEPT
from submissions.services.progress import advance

SWEEPER = "sweep"
GRACE = timedelta(minutes=5)


def sweep() -> None:
    """Advance every submission that is not at an end; empty quarantine of what is over; forget old keys."""
    steps = Steps()
    for submission_id in due_submissions():
        with steps.each("advance", submission_id):
            advance(submission_id)
    with steps.each("queue"):
        queueing.renew_due()
    with steps.each("upstreams"):
        follow_upstreams()
    for upload_id in due_uploads(clock.now()):
        with steps.each("upload", upload_id):
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
