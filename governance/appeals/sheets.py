"""What somebody who judges a run again is shown: the task, what is asked of it, and what the run left.

Made by sealed work, which holds the keys; opened by the console, which holds that of the boxes only. Nothing in a
sheet says whose run it is or what was found before.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from config import vault
from config.ids import opaque_id
from evaluation import artefacts, packages
from evaluation.assets import AssetCache
from evaluation.models import Attempt

MOST_FILES, MOST_CHARACTERS = 40, 20_000
"""Of what a run left: files shown, and characters of each."""

Prepare = Callable[[Attempt], dict[str, Any]]


@dataclass(frozen=True)
class Sealed:
    """A sheet's bytes under a key of its own, and that key for the console."""

    sealed: bytes
    boxed_key: bytes


@contextmanager
def preparing() -> Iterator[Prepare]:
    """A function that gathers what a sheet holds, from packs fetched once."""
    place = Path(settings.WORK_DIR) / opaque_id().hex
    place.mkdir(parents=True, mode=0o700)
    try:
        cache = AssetCache(place)
        yield lambda attempt: content(attempt, cache)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def content(attempt: Attempt, cache: AssetCache) -> dict[str, Any]:
    """The task's statement, its rules and what the attempt left. Raises what store and vault raise."""
    task, run = attempt.episode.task, attempt.episode.run
    environment = cache.files(task.environment_pack_id, task.environment_offset, task.environment_size)
    grading = cache.files(task.grading_pack_id, task.grading_offset, task.grading_size)
    left = artefacts.unbundle(packages.load_artefacts(run.package, attempt.artefact_key))
    return {
        "statement": _text(environment["instruction.md"]),
        "rules": json.dumps(json.loads(grading["rules.json"]), ensure_ascii=False, indent=1),
        "reply": _text(left.reply or b""),
        "files": list(_files(left.snapshot)),
    }


def _files(snapshot: bytes) -> Iterator[dict[str, str]]:
    with tarfile.open(fileobj=io.BytesIO(snapshot)) as archive:
        found = [member for member in archive if member.isfile()]
        for member in found[:MOST_FILES]:
            stream = archive.extractfile(member)
            yield {"name": member.name, "text": _text(stream.read() if stream else b"")}


def _text(data: bytes) -> str:
    return artefacts.readable(data, most=MOST_CHARACTERS)


def seal(sheet: UUID, shown: dict[str, Any]) -> Sealed:
    """Close a sheet for the console alone."""
    assert settings.VAULT_BOX_CASE is not None, "this process lends nothing to the console"
    key, target = vault.new_key(), io.BytesIO()
    vault.seal(io.BytesIO(json.dumps(shown, ensure_ascii=False).encode()), target, key=key)
    return Sealed(target.getvalue(), vault.box(key, to=settings.VAULT_BOX_CASE, about=sheet.bytes))


def opened(sheet: UUID, sealed: bytes, boxed_key: bytes) -> dict[str, Any]:
    """What it holds, in the console's process. Raises vault.SealBroken."""
    assert settings.VAULT_KEY_CASE is not None, "this process opens nothing"
    key = vault.open_box(boxed_key, private=settings.VAULT_KEY_CASE, about=sheet.bytes)
    plain = io.BytesIO()
    vault.open_sealed(io.BytesIO(sealed), plain, key=key)
    found: dict[str, Any] = json.loads(plain.getvalue())
    return found
