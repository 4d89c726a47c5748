"""Reads of offers of re-runs: an organisation sees its own; everybody else gets NotVisible."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Harness, RerunOffer, Upload
from submissions.queries.registry import NotVisible

State = RerunOffer.State
SHOWN = 200


def offers_of(organisation: Organisation, *, harness: Harness | None = None) -> list[RerunOffer]:
    """All that the organisation was offered, newest first."""
    rows = _visible(organisation)
    if harness is not None:
        rows = rows.filter(harness_version__harness=harness)
    return list(rows.order_by("-id")[:SHOWN])


def open_offers(organisation: Organisation) -> list[RerunOffer]:
    """Those that can be taken now, the first to expire first."""
    rows = _visible(organisation).filter(state=State.OPEN, expires_at__gt=clock.now())
    return list(rows.filter(task_set__closed_at=None).order_by("expires_at", "id"))


def offer_of(organisation: Organisation, offer_id: UUID) -> RerunOffer:
    """Raises NotVisible."""
    found = _visible(organisation).filter(pk=offer_id).first()
    if found is None:
        raise NotVisible
    return found


def offer_for(upload: Upload, task_set: TaskSetVersion) -> RerunOffer | None:
    """The open offer that this package could take on the version."""
    version = upload.harness_version
    return next(
        (
            offer
            for offer in open_offers(version.harness.organisation)
            if (offer.harness_version_id, offer.task_set_id, offer.package_digest)
            == (version.pk, task_set.pk, upload.sha256)
        ),
        None,
    )


def _visible(organisation: Organisation) -> QuerySet[RerunOffer]:
    related = ("task_set", "harness_version__harness", "former__task_set")
    return RerunOffer.objects.filter(organisation=organisation).select_related(*related)
