"""Reads about task-set versions."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings

from benchmark import commitments
from benchmark.keys import open_pack
from benchmark.models import AssetPack, Domain, Group, PublicTask, TaskRevision, TaskSetVersion
from benchmark.packs import DERIVED_RULES, split
from benchmark.taskdir import digest, read_task
from benchmark.taskdir.writing import write_files
from config import store


def content_digest(version: TaskSetVersion) -> str:
    """SHA-256 over one line per task, sorted by id: id, group and digest of the directory."""
    rows = (
        TaskRevision.objects.filter(version=version).order_by("slug").values_list("slug", "group", "digest")
    )
    lines = sorted(f"{slug} {group} {found}\n" for slug, group, found in rows)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def composition(version: TaskSetVersion) -> dict[str, Any]:
    """By domain: how many tasks each group has, and the sizes of the held-out families, largest first."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    families: dict[str, Counter[str]] = defaultdict(Counter)
    rows = TaskRevision.objects.filter(version=version).values_list("domain", "group", "family")
    for domain, group, family in rows:
        groups[domain][group] += 1
        if group == Group.HELD_OUT:
            families[domain][family] += 1
    return {
        domain.value: {
            "groups": dict(groups[domain]),
            "held_out_families": sorted(families[domain].values(), reverse=True),
        }
        for domain in Domain
    }


def open_versions() -> list[TaskSetVersion]:
    """Versions that vendors can submit on, newest first."""
    rows = TaskSetVersion.objects.filter(state=TaskSetVersion.State.FROZEN, opened_at__isnull=False)
    return list(rows.filter(closed_at__isnull=True).order_by("-opened_at"))


def current_version() -> TaskSetVersion | None:
    return next(iter(open_versions()), None)


def public_tasks(version: TaskSetVersion) -> list[PublicTask]:
    return list(PublicTask.objects.filter(version=version).order_by("domain", "slug"))


def public_task(version: TaskSetVersion, slug: str) -> PublicTask | None:
    return PublicTask.objects.filter(version=version, slug=slug).first()


def verify(version: TaskSetVersion, progress: Callable[[int, int], None] | None = None) -> list[str]:
    """Recompute every digest from what is stored; returns the complaints, empty where all is as frozen."""
    complaints = []
    with TemporaryDirectory(prefix="verify-") as folder:
        packs = {pack.id: fetch_pack(pack) for pack in version.packs.all()}
        complaints += [
            f"pack {pack.id}: digest differs"
            for pack in version.packs.all()
            if hashlib.sha256(packs[pack.id]).hexdigest() != pack.sha256
        ]
        rows = list(TaskRevision.objects.filter(version=version).order_by("slug"))
        for at, row in enumerate(rows, start=1):
            files = {
                name: data for kind in AssetPack.Kind for name, data in part_of(row, kind, packs).items()
            }
            derived = files.pop(DERIVED_RULES, b"")
            complaints += _complaints(row, Path(folder) / row.slug, files, derived)
            if progress:
                progress(at, len(rows))
    if version.is_frozen and content_digest(version) != version.digest:
        complaints.append(f"version {version.label}: its digest differs from that of its tasks")
    if version.is_frozen and not commitments.holds(version):
        complaints.append(f"version {version.label}: its tasks lead to another root than the one committed")
    return complaints


def fetch_pack(pack: AssetPack) -> bytes:
    """The plain pack; needs the key of its kind."""
    return store.get_sealed_bytes(settings.S3_BUCKET_SEALED, pack.object_key, under=open_pack(pack))


def part_of(row: TaskRevision, kind: AssetPack.Kind, packs: dict[Any, bytes]) -> dict[str, bytes]:
    """The task's files of that kind, by name, from plain packs by their id."""
    pack_id, offset, size = (getattr(row, f"{kind}_{name}") for name in ("pack_id", "offset", "size"))
    return split(packs[pack_id][offset : offset + size])


def _complaints(row: TaskRevision, folder: Path, files: dict[str, bytes], derived: bytes) -> Iterator[str]:
    write_files(folder, files)
    found = digest(folder)
    recorded = {
        "task": row.digest,
        "instruction": row.digest_instruction,
        "environment": row.digest_environment,
        "grading": row.digest_grading,
        "gold": row.digest_gold,
    }
    for name, value in recorded.items():
        if getattr(found, name) != value:
            yield f"task {row.slug}: digest of {name} differs"
    if read_task(folder).rules_json != derived:
        yield f"task {row.slug}: the grader's rules differ from their source"
