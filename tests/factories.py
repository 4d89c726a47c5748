"""Rows that tests arrange: a small frozen task-set version, packages and runs, without a task bank behind them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from uuid import UUID

from audit.events import system
from benchmark.models import AssetPack, Domain, TaskRevision, TaskSetVersion
from benchmark.queries import composition, content_digest
from config import clock, vault
from config.ids import new_id
from evaluation import services
from evaluation.models import EvaluationRun, StoredPackage

BY = system("test")
SHAPE: Mapping[str, tuple[int, int]] = {domain.value: (1, 3) for domain in Domain}
"""By domain: public and held-out tasks."""


def draft_version(label: str, shape: Mapping[str, tuple[int, int]] = SHAPE) -> TaskSetVersion:
    """A draft version with tasks of two families per domain; its packs point to no object."""
    version = TaskSetVersion.objects.create(label=label, is_synthetic=True)
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
    version.save()
    return version


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
