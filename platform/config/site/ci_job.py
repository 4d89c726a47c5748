"""A vendor's CI job, over HTTP only: register, upload, submit, poll, read the result. Knows nothing but the API."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 1800.0
FINAL_STATES = ("complete", "rejected", "preflight_failed", "cancelled", "incomplete", "voided")
TIMEOUT_SECONDS = 120.0


class JobFailed(RuntimeError):
    """The platform refused or ended the submission otherwise than with a result."""


def bundle(folder: Path, version: str) -> bytes:
    """The harness folder as a `.tar.gz`, with `version` in its manifest, the same bytes for the same content."""
    target = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=target, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "card.json" and "__pycache__" not in path.parts:
                data = path.read_bytes()
                if path.name == "harness.toml":
                    data = _with_version(data.decode(), version).encode()
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                entry.size, entry.mode = len(data), 0o644
                archive.addfile(entry, io.BytesIO(data))
    return target.getvalue()


def _with_version(manifest: str, version: str) -> str:
    lines = [
        f'version = "{version}"' if line.startswith("version") else line for line in manifest.splitlines()
    ]
    return "\n".join(lines) + "\n"


@dataclass
class Job:
    """One CI job with its token. `wait` sleeps (and may look after other things meanwhile)."""

    address: str
    token: str
    wait: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Language": "en"}
        self._api = httpx.Client(base_url=f"{self.address}/api/v1/", headers=headers, timeout=TIMEOUT_SECONDS)
        self._store = httpx.Client(timeout=TIMEOUT_SECONDS)

    def ask(self, method: str, path: str, **arguments: Any) -> dict[str, Any]:
        """One call; raises JobFailed with the problem's code and sentence."""
        answer = self._api.request(method, path, **arguments)
        found: dict[str, Any] = answer.json()
        if answer.is_error:
            raise JobFailed(
                f"{method} {path}: {answer.status_code} {found.get('code')}: {found.get('detail')}"
            )
        return found

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A POST whose key is a digest of what it says: repeated by a retried job, it is the same request."""
        key = hashlib.sha256(repr((path, sorted(body.items(), key=str))).encode()).hexdigest()
        return self.ask("POST", path, json=body, headers={"Idempotency-Key": key})

    def register(self, name: str, title: str, version: str, card: dict[str, Any]) -> str:
        """Register harness and version; returns the version's id."""
        harness = self.post("harnesses", {"name": name, "title": title, "relation": "owner"})
        made = self.post(f"harnesses/{harness['id']}/versions", {"version": version, "card": card})
        return str(made["id"])

    def upload(self, version_id: str, data: bytes) -> str:
        """Declare the digest, send the parts to the store, complete; returns the upload's id."""
        digest = hashlib.sha256(data).hexdigest()
        upload = self.post("uploads", {"harness_version": version_id, "sha256": digest, "size": len(data)})
        parts, start = [], 0
        for part in sorted(upload["parts"], key=lambda part: int(part["number"])):
            sent = self._store.put(part["url"], content=data[start : start + part["size"]])
            sent.raise_for_status()
            parts.append({"number": part["number"], "etag": sent.headers["etag"]})
            start += part["size"]
        self.post(f"uploads/{upload['id']}/complete", {"parts": parts})
        return str(upload["id"])

    def submit(self, version_id: str, upload_id: str, task_set: str) -> dict[str, Any]:
        body = {
            "harness_version": version_id,
            "upload": upload_id,
            "task_set": task_set,
            "publication_consent": False,
        }
        return self.post("submissions", body)

    def follow(self, submission_id: str, report: Callable[[str, int], None]) -> dict[str, Any]:
        """Poll until the end, reporting state and coarse progress; raises JobFailed where it is not `complete`."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self.ask("GET", f"submissions/{submission_id}")
            report(found["state"], int(found.get("progress") or 0))
            if found["state"] in FINAL_STATES:
                break
            if time.monotonic() > deadline:
                raise JobFailed(
                    f"submission is still {found['state']} after {PATIENCE_SECONDS:.0f} s; see the logs"
                )
            self.wait(POLL_SECONDS)
        if found["state"] != "complete":
            raise JobFailed(f"submission ended {found['state']}: {found.get('outcome')}")
        return found

    def result(self, submission_id: str) -> dict[str, Any]:
        return self.ask("GET", f"submissions/{submission_id}/result")
