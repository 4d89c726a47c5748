"""A worker's own copy of task assets: packs are fetched once, checked, and read in place."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import BinaryIO, cast

from django.conf import settings

from benchmark.keys import open_pack
from benchmark.models import AssetPack
from benchmark.packs import split
from config import store


class AssetsBroken(Exception):
    """A pack is missing or is not what its row says."""


class AssetCache:
    """Packs below a folder that only this process's user can enter; one file per pack."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._open: dict[str, int] = {}

    def files(self, pack_id: object, offset: int, size: int) -> dict[str, bytes]:
        """The files of one task's part; raises AssetsBroken, and what the store raises."""
        return split(os.pread(self._descriptor(str(pack_id)), size, offset))

    def _descriptor(self, pack_id: str) -> int:
        if pack_id not in self._open:
            path = self._folder / pack_id
            if not path.exists():
                self._fetch(pack_id, path)
            self._open[pack_id] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return self._open[pack_id]

    def _fetch(self, pack_id: str, path: Path) -> None:
        pack = AssetPack.objects.get(pk=pack_id)
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as target:
            found = Path(target.name)
            try:
                plain = cast(BinaryIO, target)
                store.fetch_sealed(settings.S3_BUCKET_SEALED, pack.object_key, plain, under=open_pack(pack))
                target.flush()
                if hashlib.sha256(found.read_bytes()).hexdigest() != pack.sha256:
                    raise AssetsBroken(pack_id)
                found.rename(path)
            except BaseException:
                found.unlink(missing_ok=True)
                raise
