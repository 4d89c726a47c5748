"""Making the fingerprints of a frozen version from its packs. Sealed work only: nobody else can open them."""

from __future__ import annotations

import io
import re
import secrets
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.conf import settings

from benchmark.keys import open_pack
from benchmark.models import AssetPack, Group, TaskRevision, TaskSetVersion
from benchmark.packs import split
from config import store
from governance.records.linter import shingles
from governance.records.linter.shingles import Prints

SALT_BYTES = 32
COMMON = 2
"""What stands in tasks of more families than this is the vocabulary of the bank, and tells nothing of one task."""
TEXTS = (
    ".md",
    ".txt",
    ".csv",
    ".tsv",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
    ".log",
    ".sql",
    ".html",
    ".xml",
    ".eml",
)
OFFICE = (".xlsx", ".docx", ".pptx")
MOST_BYTES = 4_000_000
_TAG = re.compile(r"<[^>]+>")
MADE_OF = {"quote": shingles.winnowed, "value": shingles.values}


@dataclass(frozen=True)
class Made:
    """Sorted fingerprints, keyed with `salt`, of so many tasks."""

    salt: bytes
    quotes: bytes
    values: bytes
    codes: bytes
    tasks: int


def fingerprints(task_set: TaskSetVersion) -> Made:
    """What may not be quoted: texts, cells and identifiers that only held-out or reserve tasks of a few families have.

    Raises KeyWithheld, store.ObjectMissing, vault.SealBroken.
    """
    salt = secrets.token_bytes(SALT_BYTES)
    rows = list(
        TaskRevision.objects.filter(version=task_set)
        .select_related(*(f"{kind}_pack" for kind in AssetPack.Kind))
        .order_by("family", "slug")
    )
    packs = _Packs()
    public: dict[str, set[bytes]] = {kind: set() for kind in (*MADE_OF, "code")}
    families: dict[str, Counter[bytes]] = {kind: Counter() for kind in (*MADE_OF, "code")}
    held = [row for row in rows if row.group in (Group.HELD_OUT, Group.RESERVE)]
    for row in rows:
        if row.group not in (Group.HELD_OUT, Group.RESERVE):
            for kind, found in _prints(salt, packs.texts(row), whole=True).items():
                public[kind] |= found
    for family in sorted({row.family for row in held}):
        seen: dict[str, set[bytes]] = {kind: set() for kind in (*MADE_OF, "code")}
        for row in held:
            if row.family == family:
                own = {f"{row.slug}.md": f"{row.slug} {row.digest} {row.id}", **packs.texts(row)}
                for kind, found in _prints(salt, own, whole=False).items():
                    seen[kind] |= found
        for kind, found in seen.items():
            families[kind].update(found)
    kept = {
        kind: Prints.of(
            found for found, count in counts.items() if count <= COMMON and found not in public[kind]
        )
        for kind, counts in families.items()
    }
    return Made(salt, kept["quote"].data, kept["value"].data, kept["code"].data, len(held))


def _prints(salt: bytes, texts: Mapping[str, str], *, whole: bool) -> dict[str, set[bytes]]:
    """Of one task; of a public one every shingle, so that all that it shows is known to be public."""
    found: dict[str, set[bytes]] = {kind: set() for kind in (*MADE_OF, "code")}
    for name, text in texts.items():
        found["quote"] |= set(shingles.every(salt, text)) if whole else shingles.winnowed(salt, text)
        found["value"] |= shingles.values(salt, text)
        codes = {code for code, _, _ in shingles.codes(text)} | {name.rpartition("/")[2].casefold()}
        found["code"] |= {shingles.code_print(salt, code) for code in codes}
    return found


class _Packs:
    """The texts of tasks, each pack fetched once while tasks lie in it one after the other."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[object, bytes]] = {}

    def texts(self, row: TaskRevision) -> dict[str, str]:
        """By name: every text of the task, those in its archives among them."""
        return {
            name: text
            for kind in AssetPack.Kind
            for path, data in self._files(row, kind).items()
            for name, text in _texts(path, data)
        }

    def _files(self, row: TaskRevision, kind: AssetPack.Kind) -> dict[str, bytes]:
        pack: AssetPack = getattr(row, f"{kind}_pack")
        held = self._open.get(kind)
        if held is None or held[0] != pack.pk:
            data = store.get_sealed_bytes(settings.S3_BUCKET_SEALED, pack.object_key, under=open_pack(pack))
            held = self._open[kind] = (pack.pk, data)
        offset, size = getattr(row, f"{kind}_offset"), getattr(row, f"{kind}_size")
        return split(held[1][offset : offset + size])


def _texts(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    if path.endswith((".tar.gz", ".tar", ".tgz")):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for entry in archive:
                if entry.isfile() and entry.size <= MOST_BYTES:
                    yield from _texts(entry.name, archive.extractfile(entry).read())  # type: ignore[union-attr]
    elif path.endswith(OFFICE):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if member.filename.endswith(".xml") and member.file_size <= MOST_BYTES:
                    yield path, _TAG.sub("\n", archive.read(member).decode("utf-8", "replace"))
    elif path.endswith(TEXTS):
        yield path, data.decode("utf-8", "replace")
    else:
        yield path, ""
