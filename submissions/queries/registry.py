"""Harnesses, versions, uploads and task sets that a member may see."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from django.db.models import Count, Model, Q, QuerySet
from django.http import Http404

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Harness, HarnessVersion, Upload

Row = TypeVar("Row", bound=Model)


class NotVisible(Http404):
    """It does not exist, or is another organisation's: nobody can tell which."""


def harnesses_of(organisation: Organisation) -> list[Harness]:
    """By name, each with `version_count` and `submission_count`."""
    rows = Harness.objects.filter(organisation=organisation).annotate(
        version_count=Count("versions", distinct=True),
        submission_count=Count("versions__submissions", distinct=True),
    )
    return list(rows.order_by("name"))


def harness_of(organisation: Organisation, harness_id: UUID) -> Harness:
    """Raises NotVisible."""
    return _one(Harness.objects.filter(organisation=organisation, id=harness_id))


def harness_versions(harness: Harness) -> list[HarnessVersion]:
    """Newest first, each with `submission_count`."""
    rows = HarnessVersion.objects.filter(harness=harness).annotate(submission_count=Count("submissions"))
    return list(rows.order_by("-created_at", "-id"))


def version_of(organisation: Organisation, version_id: UUID) -> HarnessVersion:
    """With its harness; raises NotVisible."""
    rows = HarnessVersion.objects.select_related("harness")
    return _one(rows.filter(harness__organisation=organisation, id=version_id))


def upload_of(organisation: Organisation, upload_id: UUID) -> Upload:
    """With its version and harness; raises NotVisible."""
    rows = Upload.objects.select_related("harness_version__harness")
    return _one(rows.filter(harness_version__harness__organisation=organisation, id=upload_id))


def uploads_of(organisation: Organisation, version: HarnessVersion) -> list[Upload]:
    """Those of one version that can be submitted now, newest first."""
    rows = Upload.objects.filter(
        harness_version=version,
        harness_version__harness__organisation=organisation,
        state=Upload.State.COMPLETE,
        expires_at__gt=clock.now(),
    )
    return list(rows.order_by("-created_at"))


def open_task_sets() -> list[TaskSetVersion]:
    """Versions that take submissions now, newest first."""
    now = clock.now()
    rows = TaskSetVersion.objects.filter(state=TaskSetVersion.State.FROZEN, opened_at__lte=now)
    return list(rows.filter(Q(closed_at__isnull=True) | Q(closed_at__gt=now)).order_by("-opened_at"))


def task_set_labelled(label: str) -> TaskSetVersion:
    """A version that was ever opened, by its label; raises NotVisible."""
    return _one(TaskSetVersion.objects.filter(label=label, opened_at__isnull=False))


def _one(rows: QuerySet[Row]) -> Row:
    found = rows.first()
    if found is None:
        raise NotVisible
    return found
