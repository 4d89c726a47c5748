"""Bundles that tests send: good ones, and ones made wrong on purpose."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping
from typing import Any

from submissions import cards

TOML = """schema = "harness/1"
name = "{name}"
version = "{version}"
command = ["python3", "/harness/run.py"]
"""


def card(**changes: Any) -> dict[str, Any]:
    """A small HarnessCard that is valid."""
    found: dict[str, Any] = {
        "schema": "harness-card/1",
        "layers": {layer: {"summary": f"What we do for {layer}."} for layer in cards.layers()},
        "models": [],
        "inference": {},
        "tuning": {"summary": "None.", "public_group_used": False},
    }
    return found | changes


def manifest(name: str = "probe", version: str = "1.0", extra: str = "") -> bytes:
    return (TOML.format(name=name, version=version) + extra).encode()


def entry(name: str, data: bytes = b"", **attributes: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for attribute, value in attributes.items():
        setattr(info, attribute, value)
    return info, data


def tar(entries: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def pack(entries: Iterable[tuple[tarfile.TarInfo, bytes]], toml: bytes | None = None) -> bytes:
    """A gzip-compressed archive, with a manifest in front unless `entries` bring their own."""
    front = [] if toml == b"" else [entry("harness.toml", toml if toml is not None else manifest())]
    return gzip.compress(tar([*front, *entries]), compresslevel=1, mtime=0)


def bundle(name: str = "probe", version: str = "1.0", files: Mapping[str, bytes] | None = None) -> bytes:
    """A good bundle."""
    rows = [entry(path, data) for path, data in (files or {"run.py": b"print('hello')\n"}).items()]
    return pack(rows, manifest(name, version))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
