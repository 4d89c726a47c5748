"""Rows that tests arrange: a small frozen task-set version, packages and runs, without a task bank behind them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TypeVar
from uuid import UUID

from django.db import models, transaction

from audit import log
from audit.events import Event, system
from benchmark.models import AssetPack, Domain, TaskRevision, TaskSetVersion
from benchmark.queries import composition, content_digest
from config import clock, vault
from config.ids import new_id
from evaluation import services
from evaluation.models import EvaluationRun, StoredPackage

BY = system("test")
SHAPE: Mapping[str, tuple[int, int]] = {domain.value: (1, 3) for domain in Domain}
"""By domain: public and held-out tasks."""

#: By model: what events call its rows, and where a row holds the subject's id.
SUBJECTS: Mapping[str, tuple[str, str]] = {
    "accounts.user": ("account", "pseudonym"),
    "accounts.organisation": ("organisation", "id"),
    "accounts.membership": ("organisation", "organisation_id"),
    "accounts.apitoken": ("token", "public_id"),
    "benchmark.tasksetversion": ("task_set", "id"),
    "evaluation.evaluationrun": ("run", "id"),
    "evaluation.attempt": ("attempt", "id"),
    "submissions.submission": ("submission", "id"),
    "governance.releasepolicy": ("release_policy", "id"),
    "governance.release": ("submission", "submission_id"),
}
Row = TypeVar("Row", bound=models.Model)


@cache
def _arranged(subject_type: str) -> type[Event]:
    """The event kind of rows of this sort that a test put in place by itself."""
    facts = {"kind": f"test.arranged_{subject_type}", "subject_type": subject_type, "__module__": __name__}
    return type(f"Arranged{subject_type.title()}", (Event,), facts)


@contextmanager
def recorded(*rows: models.Model) -> Iterator[Callable[[models.Model], None]]:
    """One transaction in which a test changes governed rows behind the services' back, with a plain event for each.

    What is made inside is handed to the function that the block gets.
    """
    with transaction.atomic():
        found = list(rows)
        yield found.append
        for row in found:
            subject_type, column = SUBJECTS[row._meta.label_lower]
            log.append(_arranged(subject_type)(subject=getattr(row, column)), by=BY)


@contextmanager
def recorded_as(subject_type: str, subject: UUID) -> Iterator[None]:
    """One transaction in which a test changes a row that `SUBJECTS` does not list, with a plain event about it."""
    with transaction.atomic():
        yield
        log.append(_arranged(subject_type)(subject=subject), by=BY)


def saved(row: Row) -> Row:
    """The governed row as a test made or changed it, stored with a plain event."""
    with recorded(row):
        row.save()
    return row


def draft_version(label: str, shape: Mapping[str, tuple[int, int]] = SHAPE) -> TaskSetVersion:
    """A draft version with tasks of two families per domain; its packs point to no object."""
    version = saved(TaskSetVersion(label=label, is_synthetic=True))
    packs = {
        kind: AssetPack.objects.create(
            version=version,
            kind=kind,
            object_key=f"packs/{new_id()}",
            sha256="0" * 64,
            size=1,
            wrapped_key=b"-",
        )
        for kind in AssetPack.Kind
    }
    rows = [
        _task(version, packs, domain, group, number)
        for domain, (public, held_out) in shape.items()
        for group, count in (("public", public), ("held_out", held_out))
        for number in range(count)
    ]
    TaskRevision.objects.bulk_create(rows)
    return version


def _task(
    version: TaskSetVersion, packs: Mapping[AssetPack.Kind, AssetPack], domain: str, group: str, number: int
) -> TaskRevision:
    slug = f"{domain.replace('_', '-')}-{group.replace('_', '-')}-{number}"
    places = {
        f"{kind}_{name}": value
        for kind, pack in packs.items()
        for name, value in (("pack", pack), ("offset", 0), ("size", 1))
    }
    return TaskRevision(
        version=version,
        slug=slug,
        family=f"{domain}-{number % 2}",
        domain=domain,
        category="voucher",
        operation="query",
        difficulty="basic",
        group=group,
        turns=1,
        budget_seconds=30,
        budget_steps=10,
        budget_tokens=1000,
        digest_instruction="0" * 64,
        digest_environment="0" * 64,
        digest_grading="0" * 64,
        digest_gold="0" * 64,
        digest=hashlib.sha256(slug.encode()).hexdigest(),
        **places,
    )


def frozen_version(label: str, shape: Mapping[str, tuple[int, int]] = SHAPE) -> TaskSetVersion:
    """A frozen, open version. Admission is noted by hand here: these tests are not about it."""
    version = draft_version(label, shape)
    version.digest = content_digest(version)
    version.composition = composition(version)
    version.state = TaskSetVersion.State.FROZEN
    version.opened_at = clock.now()
    return saved(version)


def package() -> StoredPackage:
    return StoredPackage.objects.create(
        digest=hashlib.sha256(new_id().bytes).hexdigest(),
        object_key=f"packages/{new_id()}",
        size=1,
        unpacked_size=1,
        wrapped_upload_key=b"-",
        wrapped_submission_key=vault.new_key(),
    )


def run_of(
    version: TaskSetVersion,
    kind: str = EvaluationRun.Kind.HELD_OUT,
    *,
    runs_per_task: int = 1,
    lineage_id: UUID | None = None,
    sample: int | None = None,
) -> EvaluationRun:
    return services.create_run(
        kind=kind,
        version=version,
        package=package(),
        command=["true"],
        runs_per_task=runs_per_task,
        lineage_id=lineage_id or new_id(),
        line_id=new_id(),
        sample=sample,
        by=BY,
    )
