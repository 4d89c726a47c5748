"""The official base root: a tar made by `make rootfs`, named by its SHA-256, unpacked and looked at as images are.

In its folder lie `SHA256.tar` and `current.json`, which names the one in force.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from evaluation.images import tree
from evaluation.images.archive import Contents, Layer
from evaluation.images.cache import Made, RootCache
from evaluation.images.image import Image, Reader, unpack
from evaluation.images.strict import CHUNK, checked_name

CURRENT = "current.json"
_LAYER = "root"
_DROPPED = ("dev/", "etc/apt/", "var/cache/", "var/log/", "var/lib/apt/", "run/")
"""Folders whose content is of the machine that built the tree, or of no use in one that is read only."""


@dataclass(frozen=True)
class Official:
    """`sha256` of the tar, `tree` the digest of its finished tree, `size` in bytes of its files."""

    sha256: str
    tree: str
    size: int
    entries: int

    @property
    def label(self) -> str:
        """What the isolation grade says of it."""
        return f"official root {self.sha256[:12]}"


def clean(source: BinaryIO, target: BinaryIO, epoch: int) -> str:
    """Write the tree of a tar anew: sorted, owner 0, no set-id bits, no devices, no time after `epoch`; its SHA-256."""
    with tarfile.open(fileobj=source, mode="r:", encoding="utf-8") as tar:
        members = {checked_name(member.name): member for member in tar}
        with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8") as out:
            for name in sorted(members):
                member = members[name]
                kept = member.isreg() or member.isdir() or member.issym() or member.islnk()
                if not name or not kept or any(name.startswith(place) for place in _DROPPED):
                    continue
                out.addfile(_plain(member, name, epoch), tar.extractfile(member) if member.isreg() else None)
    target.flush()
    target.seek(0)
    return _sha256(target)


def _plain(member: tarfile.TarInfo, name: str, epoch: int) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = member.type, member.linkname
    found.size = member.size if member.isreg() else 0
    found.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    found.mtime = min(int(member.mtime), epoch)
    if member.islnk():
        found.linkname = checked_name(member.linkname)
    return found


def _sha256(file: BinaryIO) -> str:
    found = hashlib.sha256()
    while chunk := file.read(CHUNK):
        found.update(chunk)
    return found.hexdigest()


def inspect(file: BinaryIO) -> Image:
    """The tree of a root tar, by every rule that holds for a layer of an image. Raises Finding."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    sha256 = _sha256(file)
    layer = Layer(_LAYER, 0, size, sha256, compressed=False)
    reader = Reader()
    reader.read(file, 0, layer)
    rows = list(reader.tree.rows())
    tree.require_harmless(rows)
    return Image(sha256, tree.digest(rows), rows, {}, b"", Contents(sha256, {}, (layer,)))


def install(tar: Path, folder: Path) -> Official:
    """Put a tar that `clean` wrote into the folder and make it the one in force. Raises Finding, OSError."""
    with tar.open("rb") as file:
        image = inspect(file)
    found = Official(image.digest, image.tree_digest, image.unpacked, len(image.rows))
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f".{found.sha256}.part"
    shutil.copyfile(tar, fresh)
    fresh.replace(folder / f"{found.sha256}.tar")
    note = folder / f".{CURRENT}.part"
    note.write_text(json.dumps(asdict(found), indent=1) + "\n")
    note.replace(folder / CURRENT)
    return found


def current(folder: Path) -> Official | None:
    """The root in force; None where none was made."""
    try:
        return Official(**json.loads((folder / CURRENT).read_bytes()))
    except FileNotFoundError:
        return None


@contextmanager
def held(folder: Path, official: Official, roots: RootCache) -> Iterator[Path]:
    """Its unpacked tree, for as long as it is used. Raises OSError, Finding where the tar is not what it was."""

    def make(target: Path) -> Made:
        with (folder / f"{official.sha256}.tar").open("rb") as file:
            image = inspect(file)
            unpack(file, image, target)
        return Made(image.rows, {})

    with roots.hold(official.tree, official.size, make) as found:
        yield found.path
