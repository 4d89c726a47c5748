"""Image archives by hand, in every layout that tools write, and broken ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OCI = "application/vnd.oci.image."
Entry = tuple[tarfile.TarInfo, bytes]


def file(name: str, content: bytes = b"", *, mode: int = 0o644, **facts: Any) -> Entry:
    found = tarfile.TarInfo(name)
    found.size, found.mode, found.mtime = len(content), mode, 1_600_000_000
    for key, value in facts.items():
        setattr(found, key, value)
    return found, content


def folder(name: str, mode: int = 0o755) -> Entry:
    found = tarfile.TarInfo(name)
    found.type, found.mode = tarfile.DIRTYPE, mode
    return found, b""


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> Entry:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.mode = kind, target, 0o777
    return found, b""


def hard(name: str, target: str) -> Entry:
    return link(name, target, tarfile.LNKTYPE)


def special(name: str, kind: bytes) -> Entry:
    return link(name, "", kind)


def tar(entries: Iterable[Entry], format: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def hexed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def manifest(command: Sequence[str] = ("/bin/sh", "/harness/run.sh"), **changes: str) -> bytes:
    rows = {"schema": "harness/1", "name": "probe", "version": "1.0.0", "kind": "image"} | changes
    lines = [f"{key} = {json.dumps(value)}" for key, value in rows.items()]
    return "\n".join([*lines, f"command = {json.dumps(list(command))}", ""]).encode()


@dataclass
class Built:
    """An image to be written: layers as tars, and its configuration."""

    layers: list[bytes]
    settings: dict[str, Any] = field(default_factory=dict)
    above: dict[str, Any] = field(default_factory=dict)
    compress: bool = True

    def config(self) -> bytes:
        found = {"architecture": "amd64", "os": "linux", "config": self.settings}
        diff_ids = [f"sha256:{hexed(layer)}" for layer in self.layers]
        return json.dumps(found | {"rootfs": {"type": "layers", "diff_ids": diff_ids}} | self.above).encode()

    def blobs(self) -> list[bytes]:
        return [gzip.compress(layer, 1, mtime=0) if self.compress else layer for layer in self.layers]

    def oci(self, *, changes: Mapping[str, bytes | None] | None = None, **manifest: Any) -> bytes:
        """As `podman save --format oci-archive` and newer Docker write it."""
        files = self.oci_files(**manifest)
        files.update(changes or {})  # type: ignore[arg-type]
        return tar(file(name, content) for name, content in files.items() if content is not None)

    def oci_files(self, **changes: Any) -> dict[str, bytes]:
        kind = OCI + ("layer.v1.tar+gzip" if self.compress else "layer.v1.tar")
        found = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

        def add(data: bytes, kind: str) -> dict[str, Any]:
            found[f"blobs/sha256/{hexed(data)}"] = data
            return {"mediaType": kind, "digest": f"sha256:{hexed(data)}", "size": len(data)}

        body = {
            "schemaVersion": 2,
            "config": add(self.config(), OCI + "config.v1+json"),
            "layers": [add(blob, kind) for blob in self.blobs()],
        } | changes
        listed = add(json.dumps(body).encode(), OCI + "manifest.v1+json")
        found["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [listed]}).encode()
        return found

    def docker(self, *, entries: Sequence[Entry] = (), rows: int = 1, **changes: Any) -> bytes:
        """As `docker save` wrote it before it knew the OCI layout."""
        config = self.config()
        row = {
            "Config": f"{hexed(config)}.json",
            "RepoTags": ["probe:1"],
            "Layers": [f"{number}/layer.tar" for number in range(len(self.layers))],
        } | changes
        found = [file(f"{hexed(config)}.json", config)]
        for number, layer in enumerate(self.layers):
            found += [
                folder(f"{number}/"),
                file(f"{number}/VERSION", b"1.0"),
                file(f"{number}/layer.tar", layer),
            ]
        found += [file("manifest.json", json.dumps([row] * rows).encode()), *entries]
        return tar(found)


HARNESS = (folder("harness"), file("harness/harness.toml", manifest()), file("harness/run.sh", b"exit 0\n"))


def image(*layers: Iterable[Entry], settings: Mapping[str, Any] | None = None, **changes: Any) -> Built:
    """An image of these layers, with a harness in the first."""
    first, *rest = layers or ((),)
    return Built(
        [tar([*HARNESS, *first]), *(tar(layer) for layer in rest)], settings=dict(settings or {}), **changes
    )


def programs(*paths: str) -> list[Entry]:
    """Programs of this host with the libraries they need, where they lie, as entries of a layer."""
    wanted = {os.path.realpath(path): path for path in paths}
    for path in list(wanted):
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+) \(0x", listed):
            wanted[library] = library
    return [file(inside.lstrip("/"), Path(path).read_bytes(), mode=0o755) for path, inside in wanted.items()]


SHELL = ("/bin/sh", "/bin/cat", "/usr/bin/id", "/usr/bin/env", "/bin/ls", "/bin/sleep")


def shell_image(
    script: str, *layers: Iterable[Entry], command: Sequence[str] | None = None, **changes: Any
) -> Built:
    """An image with a shell and some programs of this host, whose harness is `script`."""
    toml = manifest(command) if command else manifest()
    own = [
        folder("harness"),
        file("harness/harness.toml", toml),
        file("harness/run.sh", script.encode(), mode=0o755),
    ]
    return Built([tar([*programs(*SHELL)]), tar(own), *(tar(layer) for layer in layers)], **changes)
