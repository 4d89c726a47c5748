"""Deleting stored artefacts whose time is over. Bytes go first: a purge that fails half-way is made again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from audit import log
from audit.events import Actor
from config import clock, store
from evaluation.models import Attempt, Episode, EvaluationRun, PublicTaskResult, TaskResult
from evaluation.packages import ARTEFACTS
from evaluation.retention import events
from evaluation.retention.models import ArtefactPurge, PurgedArtefact

Class = ArtefactPurge.Class
BATCH = 1000
"""Objects deleted in one step, each with a purge and an event of its own; S3 takes no more in a call."""
ENDED = (EvaluationRun.State.ENDED, EvaluationRun.State.CANCELLED)


def purge_runs(kind: str, runs: Iterable[UUID], *, by: Actor) -> int:
    """Delete what all attempts of these runs left, but for runs that still go on; returns how many attempts."""
    rows = _kept().filter(episode__run__in=list(runs), episode__run__state__in=ENDED)
    return _purge(kind, rows, by=by)


def purge_failed(before: datetime, *, spared: Iterable[UUID], by: Actor) -> int:
    """Delete what attempts left that ended `before` and gave no result: lost in grading, cancelled, run again.

    `spared` are runs of which nothing is deleted.
    """
    graded = TaskResult.objects.filter(attempt=OuterRef("pk"))
    shown = PublicTaskResult.objects.filter(
        run=OuterRef("episode__run"), task=OuterRef("episode__task"), run_index=OuterRef("episode__run_index")
    )
    later = Attempt.objects.filter(episode=OuterRef("episode"), number__gt=OuterRef("number")).exclude(
        artefact_key=""
    )
    over = Q(episode__state__in=(Episode.State.UNAVAILABLE, Episode.State.CANCELLED)) | Exists(later)
    rows = _kept().filter(over, ~Exists(graded), ended_at__lte=before).exclude(episode__run__in=list(spared))
    return _purge(Class.FAILED, rows.filter(~Exists(shown) | Exists(later)), by=by)


def purge_unclaimed(before: datetime, *, by: Actor) -> int:
    """Delete objects stored `before` that no attempt names: their worker had lost its claim. Returns how many."""
    count = 0
    objects = _objects(before)
    while found := list(islice(objects, BATCH)):
        keys = {key for key, _ in found}
        named = set(Attempt.objects.filter(artefact_key__in=keys).values_list("artefact_key", flat=True))
        lost = sorted((key, size) for key, size in found if key not in named)
        if lost:
            store.delete_many(settings.S3_BUCKET_SEALED, [key for key, _ in lost])
            with transaction.atomic():
                _note(Class.UNCLAIMED, [key for key, _ in lost], sum(size for _, size in lost), by=by)
            count += len(lost)
    return count


def digest_of(names: Iterable[str]) -> str:
    """SHA-256 in hex over digests or keys, sorted, one a line."""
    return hashlib.sha256("".join(f"{name}\n" for name in sorted(names)).encode()).hexdigest()


def _kept() -> QuerySet[Attempt]:
    return Attempt.objects.filter(ended_at__isnull=False, purged=None).exclude(artefact_key="")


def _purge(kind: str, rows: QuerySet[Attempt], *, by: Actor) -> int:
    """In batches. An object that an attempt outside the batch still needs stays: both then name the same bytes."""
    count = 0
    columns = ("pk", "artefact_key", "artefact_sha256")
    while batch := list(rows.order_by("pk").values_list(*columns)[:BATCH]):
        ids, keys = [row[0] for row in batch], {row[1] for row in batch}
        needed = _kept().filter(artefact_key__in=keys).exclude(pk__in=ids)
        gone = sorted(keys - set(needed.values_list("artefact_key", flat=True)))
        size = sum(store.size_of(settings.S3_BUCKET_SEALED, key) for key in gone)
        store.delete_many(settings.S3_BUCKET_SEALED, gone)
        with transaction.atomic():
            purge = _note(kind, [row[2] for row in batch], size, by=by, count=len(gone))
            PurgedArtefact.objects.bulk_create([PurgedArtefact(attempt_id=key, purge=purge) for key in ids])
        count += len(batch)
    return count


def _note(kind: str, names: list[str], size: int, *, by: Actor, count: int | None = None) -> ArtefactPurge:
    purge = ArtefactPurge.objects.create(
        kind=kind,
        at=clock.now(),
        count=len(names) if count is None else count,
        size=size,
        digest=digest_of(names),
    )
    event = events.ArtefactsPurged(
        subject=purge.id, retention=str(kind), count=purge.count, size=size, digest=purge.digest
    )
    log.append(event, by=by)
    return purge


def _objects(before: datetime) -> Iterator[tuple[str, int]]:
    """Key and size of every stored artefact that is older than `before`."""
    for key, size, at in store.listed(settings.S3_BUCKET_SEALED, f"{ARTEFACTS}/"):
        if at <= before:
            yield key, size
