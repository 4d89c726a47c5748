"""A task set written back to disk from its sealed packs: the directory form, from which a further version is made."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmark.models import AssetPack, TaskRevision
from benchmark.packs import DERIVED_RULES
from benchmark.queries import fetch_pack, part_of
from benchmark.taskdir import digest, task_dir, toml, write_files


class ExportBroken(Exception):
    """A task's files differ from its digest; the message names it."""


def write_version(
    root: Path, *, label: str, synthetic: bool, tasks: Iterable[tuple[TaskRevision, str]]
) -> list[Path]:
    """Write tasks, each with the group it gets, and their manifest under `root`; returns the task directories.

    Needs the sealed keys, gold included. Raises ExportBroken, and what the store raises.
    """
    packs: dict[Any, bytes] = {}
    entries, folders = [], []
    for row, group in sorted(tasks, key=lambda pair: pair[0].slug):
        folder = task_dir(root, row.slug)
        for kind in AssetPack.Kind:
            pack = getattr(row, f"{kind}_pack")
            if pack.pk not in packs:
                packs[pack.pk] = fetch_pack(pack)
            files = part_of(row, kind, packs)
            files.pop(DERIVED_RULES, None)
            write_files(folder, files)
        if digest(folder).task != row.digest:
            raise ExportBroken(f"task {row.slug}: its files differ from their digest")
        entries.append({"id": row.slug, "group": group, "digest": row.digest})
        folders.append(folder)
    manifest = {
        "schema": "lingee-taskset/1",
        "version": label,
        "seed": 0,
        "size": "full",
        "synthetic": synthetic,
        "tasks": entries,
    }
    write_files(root, {"taskset.toml": toml(manifest)})
    return folders
