"""The content of a package apart from its version line: what stays where only the name of a version changes."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

from evaluation.images.image import MANIFEST as IMAGE_MANIFEST
from evaluation.images.image import Image

MANIFEST = "harness.toml"
VERSION = "version"
EXECUTABLE = 0o100


def content_digest(folder: Path) -> str:
    """SHA-256 in hex over the unpacked files: path, whether it may be executed, content; links by their target.

    Of harness.toml its meaning counts without the version. Times, owners and the order of the archive do not.
    """
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            part = ("link", name, hashlib.sha256(str(path.readlink()).encode(errors="surrogateescape")))
        elif path.is_file():
            kind = "run" if path.stat().st_mode & EXECUTABLE else "file"
            part = (kind, name, _content(path, is_manifest=name == MANIFEST))
        else:
            continue
        kind, name, digest = part
        found.update(f"{kind} {len(name.encode(errors='surrogateescape'))} ".encode())
        found.update(name.encode(errors="surrogateescape") + digest.digest())
    return found.hexdigest()


def image_content_digest(image: Image) -> str:
    """The same over an image's finished tree, with the variables it brings; how it was layered does not count."""
    found = hashlib.sha256(b"image\n")
    for row in image.rows:
        if row.kind == "dir":
            continue
        kind, digest = "link", hashlib.sha256(row.target.encode()).digest()
        if row.kind == "file":
            kind = "run" if row.content is not None and row.content.executable else "file"
            digest = bytes.fromhex(row.content.sha256) if row.content is not None else b""
        if row.name == IMAGE_MANIFEST and (meaning := _meaning(image.manifest)) is not None:
            digest = hashlib.sha256(meaning).digest()
        name = row.name.encode()
        found.update(f"{kind} {len(name)} ".encode() + name + digest)
    found.update(json.dumps(image.environment, sort_keys=True).encode())
    return found.hexdigest()


def _content(path: Path, *, is_manifest: bool) -> hashlib._Hash:
    if is_manifest and (meaning := _meaning(path.read_bytes())) is not None:
        return hashlib.sha256(meaning)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256")


def _meaning(manifest: bytes) -> bytes | None:
    """The manifest without its version in a canonical form; None where it cannot be read."""
    try:
        table = tomllib.loads(manifest.decode())
    except (ValueError, RecursionError):
        return None
    table.pop(VERSION, None)
    return json.dumps(table, sort_keys=True, default=str).encode()
