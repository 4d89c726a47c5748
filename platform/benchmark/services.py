"""Task-set versions: imported from a directory, admitted, frozen, opened for submissions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from django.conf import settings
from django.db import transaction

from audit import log
from audit.events import Actor
from benchmark import commitments, events
from benchmark.keys import pack_key
from benchmark.models import AssetPack, Group, PublicTask, TaskRevision, TaskSetVersion
from benchmark.packs import DERIVED_RULES, PREFIXES, packs_of
from benchmark.queries import composition, content_digest
from benchmark.taskdir import (
    Digests,
    Task,
    TaskSetManifest,
    digest,
    read_task,
    read_taskset,
    task_dir,
    verify_digests,
)
from config import clock, store, vault
from config.ids import new_id

Progress = Callable[[int, int], None]


class TaskSetRefused(Exception):
    """The directory or version cannot be taken as it is; the message says what to change."""


def import_directory(root: Path, *, by: Actor, progress: Progress | None = None) -> TaskSetVersion:
    """Store a task-set directory as a draft version; reserve and practice tasks come along in their groups.

    Raises TaskSetRefused where the label is taken or a directory differs from the manifest's digest, and
    benchmark.taskdir.TaskDirError for a task that cannot be read.
    """
    manifest = read_taskset(root)
    if TaskSetVersion.objects.filter(label=manifest.version).exists():
        raise TaskSetRefused(f"task-set version {manifest.version} is there already")
    if wrong := verify_digests(root, manifest):
        raise TaskSetRefused(f"{len(wrong)} task directories differ from taskset.toml, first {wrong[0]}")
    tasks, digests = _read_all(root, manifest, progress)
    with transaction.atomic():
        version = TaskSetVersion.objects.create(label=manifest.version, is_synthetic=manifest.synthetic)
        groups = {entry.id: entry.group for entry in manifest.tasks}
        placed = {kind: _store_packs(version, kind, tasks, groups) for kind in AssetPack.Kind}
        rows = [
            _revision(version, task, digests[task.meta.id], groups[task.meta.id], placed) for task in tasks
        ]
        TaskRevision.objects.bulk_create(rows, batch_size=500)
        PublicTask.objects.bulk_create(
            [_public(row, task) for row, task in zip(rows, tasks, strict=True) if row.group == Group.PUBLIC]
        )
        log.append(
            events.TaskSetImported(
                subject=version.id, label=version.label, digest=content_digest(version), tasks=len(rows)
            ),
            by=by,
        )
    return version


def _read_all(
    root: Path, manifest: TaskSetManifest, progress: Progress | None
) -> tuple[list[Task], dict[str, Digests]]:
    tasks, digests = [], {}
    for at, entry in enumerate(sorted(manifest.tasks, key=lambda entry: entry.id), start=1):
        folder = task_dir(root, entry.id)
        tasks.append(read_task(folder))
        digests[entry.id] = digest(folder)
        if progress:
            progress(at, len(manifest.tasks))
    return tasks, digests


def _files(task: Task, kind: AssetPack.Kind) -> dict[str, bytes]:
    names = (
        path.relative_to(task.path).as_posix() for path in sorted(task.path.rglob("*")) if path.is_file()
    )
    files = {name: (task.path / name).read_bytes() for name in names if name.startswith(PREFIXES[kind])}
    if kind == AssetPack.Kind.GRADING:
        files[DERIVED_RULES] = task.rules_json
    return files


def _store_packs(
    version: TaskSetVersion, kind: AssetPack.Kind, tasks: Iterable[Task], groups: Mapping[str, str]
) -> dict[str, tuple[AssetPack, int, int]]:
    """Packs hold one group each, so that a worker on public tasks never opens held-out ones."""
    placed: dict[str, tuple[AssetPack, int, int]] = {}
    for group in Group:
        chosen: Iterator[tuple[str, Mapping[str, bytes]]] = (
            (task.meta.id, _files(task, kind)) for task in tasks if groups[task.meta.id] == group
        )
        for pack in packs_of(chosen):
            key = vault.new_key()
            row = AssetPack(
                id=new_id(),
                version=version,
                kind=kind,
                sha256=pack.sha256,
                size=pack.size,
                wrapped_key=vault.wrap(key, under=pack_key(kind)),
            )
            row.object_key = f"packs/{row.id}"
            store.put_sealed_bytes(
                settings.S3_BUCKET_SEALED, row.object_key, pack.content.getvalue(), under=key
            )
            row.save(force_insert=True)
            placed |= {part.task: (row, part.offset, part.size) for part in pack.parts}
    return placed


def _revision(
    version: TaskSetVersion,
    task: Task,
    digests: Digests,
    group: str,
    placed: Mapping[AssetPack.Kind, Mapping[str, tuple[AssetPack, int, int]]],
) -> TaskRevision:
    meta = task.meta
    row = TaskRevision(
        version=version,
        slug=meta.id,
        family=meta.family,
        domain=meta.domain,
        category=meta.category,
        operation=meta.operation,
        difficulty=meta.difficulty,
        group=group,
        turns=meta.turns,
        budget_seconds=meta.budget.seconds,
        budget_steps=meta.budget.steps,
        budget_tokens=meta.budget.tokens,
        metadata=meta.metadata.model_dump(mode="json") | {"title": meta.title.model_dump(mode="json")},
        digest=digests.task,
        digest_instruction=digests.instruction,
        digest_environment=digests.environment,
        digest_grading=digests.grading,
        digest_gold=digests.gold,
    )
    for kind in AssetPack.Kind:
        pack, offset, size = placed[kind][meta.id]
        setattr(row, f"{kind}_pack", pack)
        setattr(row, f"{kind}_offset", offset)
        setattr(row, f"{kind}_size", size)
    return row


def _public(row: TaskRevision, task: Task) -> PublicTask:
    return PublicTask(
        task=row,
        version=row.version,
        slug=row.slug,
        domain=row.domain,
        category=row.category,
        operation=row.operation,
        difficulty=row.difficulty,
        title_zh=task.meta.title.zh,
        title_en=task.meta.title.en,
        instruction=b"\n\n".join((task.instruction, *task.turns)).decode(),
    )


def record_admission(version: TaskSetVersion, *, digest_admitted: str, tasks: int, by: Actor) -> None:
    """Note that exactly this content passed admission; raises TaskSetRefused where it is another's."""
    with transaction.atomic():
        locked = TaskSetVersion.objects.select_for_update().get(pk=version.pk)
        if content_digest(locked) != digest_admitted:
            raise TaskSetRefused("what passed admission is not what was imported")
        locked.admission = {"digest": digest_admitted, "tasks": tasks, "evaluator": locked.evaluator_version}
        locked.save(update_fields=["admission"])
        log.append(events.TaskSetAdmitted(subject=locked.id, digest=digest_admitted, tasks=tasks), by=by)
    version.refresh_from_db()


def freeze(label: str, *, by: Actor) -> TaskSetVersion:
    """Freeze a draft for ever. Raises TaskSetRefused unless every task of this very content passed admission."""
    with transaction.atomic():
        version = TaskSetVersion.objects.select_for_update().filter(label=label).first()
        if version is None:
            raise TaskSetRefused(f"there is no task-set version {label}")
        if version.is_frozen:
            raise TaskSetRefused(f"task-set version {label} is frozen already")
        found = content_digest(version)
        if version.admission.get("digest") != found:
            raise TaskSetRefused(f"task-set version {label} has not passed admission as it is now")
        version.digest = found
        version.composition = composition(version)
        version.state = TaskSetVersion.State.FROZEN
        version.save()
        commitment = commitments.commit(version)
        log.append(
            events.TaskSetFrozen(
                subject=version.id,
                label=label,
                digest=found,
                tasks=commitment.tasks,
                assets_root=commitment.root,
            ),
            by=by,
        )
    return version


def open_version(version: TaskSetVersion, *, by: Actor) -> None:
    """From now on vendors may submit on this frozen version. Raises TaskSetRefused for a draft."""
    with transaction.atomic():
        locked = TaskSetVersion.objects.select_for_update().get(pk=version.pk)
        if not locked.is_frozen:
            raise TaskSetRefused(f"task-set version {locked.label} is not frozen")
        if locked.opened_at is None:
            locked.opened_at = clock.now()
            locked.save(update_fields=["opened_at"])
            log.append(events.TaskSetOpened(subject=locked.id, label=locked.label), by=by)
    version.refresh_from_db()
