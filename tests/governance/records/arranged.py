"""A frozen version whose held-out tasks have words of their own, and its fingerprints."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping

from django.conf import settings

from benchmark.keys import pack_key
from benchmark.models import AssetPack, TaskRevision, TaskSetVersion
from benchmark.packs import join
from benchmark.queries import composition, content_digest
from config import clock, store, vault
from governance.records.models import LeakIndex
from tests.factories import SHAPE, draft_version, recorded_as, saved
from tests.governance.records import texts


def indexed(task_set: TaskSetVersion) -> LeakIndex:
    """Fingerprints of a version whose packs are in no store, as tests mostly have them: they hold no texts at all."""
    with recorded_as("task_set", task_set.id):
        row, _ = LeakIndex.objects.get_or_create(
            task_set=task_set,
            defaults={
                "salt": bytes(32),
                "quotes": b"",
                "values": b"",
                "codes": b"",
                "tasks": 0,
                "made_at": clock.now(),
            },
        )
    return row


def worded_set(label: str = "w1") -> TaskSetVersion:
    """Each task of a frozen, open version has a statement, a workspace and rules in the store, each group its own."""
    version = draft_version(label, SHAPE)
    for kind in AssetPack.Kind:
        _fill(version, kind)
    version.digest, version.composition = content_digest(version), composition(version)
    version.state, version.opened_at = TaskSetVersion.State.FROZEN, clock.now()
    return saved(version)


def _fill(version: TaskSetVersion, kind: AssetPack.Kind) -> None:
    parts, key = b"", vault.new_key()
    pack = version.packs.get(kind=kind)
    for row in TaskRevision.objects.filter(version=version).order_by("slug"):
        part = join(_files(row, kind))
        setattr(row, f"{kind}_offset", len(parts))
        setattr(row, f"{kind}_size", len(part))
        row.save()
        parts += part
    store.put_sealed_bytes(settings.S3_BUCKET_SEALED, pack.object_key, parts, under=key)
    pack.sha256, pack.size = hashlib.sha256(parts).hexdigest(), len(parts)
    pack.wrapped_key = vault.wrap(key, under=pack_key(kind))
    pack.save()


def _files(row: TaskRevision, kind: AssetPack.Kind) -> Mapping[str, bytes]:
    is_held = row.group == "held_out"
    words = (
        f"{texts.STATEMENT}\n{texts.PUBLIC}" if is_held and row.slug.startswith("finance") else texts.PUBLIC
    )
    if kind == AssetPack.Kind.ENVIRONMENT:
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as made:
            data = (f"单号,数量\nKH{row.slug[-1]}5511,3\n" if is_held else "a,b\n").encode()
            entry = tarfile.TarInfo("台账明细.csv" if is_held else "open.csv")
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
        return {"instruction.md": words.encode(), "environment/workspace.tar.gz": archive.getvalue()}
    if kind == AssetPack.Kind.GRADING:
        return {"rules.json": json.dumps({"items": []}).encode()}
    return {"tests/gold/gold/reply.md": b"done"}
