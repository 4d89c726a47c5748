"""A folder as a bundle: the same content gives the same bytes, so the digest is that of the content."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path

from client.exits import Exit
from client.trouble import Trouble
from client.words import say

LEFT_OUT = frozenset({"__pycache__", ".git", ".hg", ".venv", ".lgbench", ".DS_Store"})
CHUNK = 1024 * 1024


@dataclass(frozen=True)
class Bundle:
    """A packed bundle on disk. `size` in bytes, `digest` is SHA-256 in hex."""

    path: Path
    digest: str
    size: int


def members(folder: Path) -> list[Path]:
    """Every file and link below `folder` that goes in, in the order of their names."""
    found = []
    for base, folders, files in os.walk(folder):
        here = Path(base)
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        linked = [name for name in folders if (here / name).is_symlink()]
        found += [here / name for name in (*files, *linked) if name not in LEFT_OUT]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def pack(folder: Path, target: Path) -> Bundle:
    """Write the bundle of `folder` to `target`: sorted, owner 0, time 0. Raises Trouble where there is no folder."""
    if not folder.is_dir():
        raise Trouble(
            "no_folder",
            say("There is no folder {path}.").format(path=folder),
            hint=say("Run `lgbench init`, or name the harness folder in lgbench.toml."),
            exit=Exit.USAGE,
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with (
        partial.open("wb") as file,
        gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in members(folder):
            _add(archive, path, path.relative_to(folder).as_posix())
    partial.replace(target)
    return measured(target)


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    entry = archive.gettarinfo(str(path), arcname=name)
    if entry is None:  # a socket; no archive can hold it
        return
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    if entry.islnk():  # two names of one file are two files
        entry.type, entry.linkname, entry.size = tarfile.REGTYPE, "", path.stat().st_size
    if entry.isreg():
        with path.open("rb") as content:
            archive.addfile(entry, content)
    else:
        archive.addfile(entry)


def measured(path: Path) -> Bundle:
    """The bundle that lies at `path`."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Bundle(path, digest.hexdigest(), size)
