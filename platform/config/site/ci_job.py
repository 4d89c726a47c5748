"""A vendor's CI job, over HTTP only: register, upload, submit, poll, read the result; by what the client is made of."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client.packing import measured, pack
from client.project import Project
from client.remote.http import Site
from client.remote.uploads import Uploader
from client.trouble import Trouble

POLL_SECONDS = 1.0
PATIENCE_SECONDS = 1800.0
FINAL_STATES = ("complete", "rejected", "preflight_failed", "cancelled", "incomplete", "voided")
VERSION = re.compile(r"^version\s*=.*$", re.MULTILINE)


class JobFailed(RuntimeError):
    """The platform refused or ended the submission otherwise than with a result."""


def bundle(folder: Path, version: str) -> bytes:
    """The harness folder as the client packs it, without its card, with `version` in its manifest."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "harness"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("card.json"))
        manifest = copy / "harness.toml"
        manifest.write_text(
            VERSION.sub(f'version = "{version}"', manifest.read_text("utf-8"), count=1), "utf-8"
        )
        return pack(copy, Path(place) / "bundle.tar.gz").path.read_bytes()


@dataclass
class Job:
    """One CI job with its token. `wait` sleeps (and may look after other things meanwhile)."""

    address: str
    token: str
    wait: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        self._site = Site(self.address, self.token, wait=self.wait)

    def ask(self, method: str, path: str) -> dict[str, Any]:
        """One call; raises JobFailed with the problem's code and sentence."""
        with _failing(f"{method} {path}"):
            return self._site.call(method, path).body

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A POST whose key is a digest of what it says: repeated by a retried job, it is the same request."""
        with _failing(f"POST {path}"):
            return self._site.post(path, body, key=_key(path, body))

    def register(self, name: str, title: str, version: str, card: dict[str, Any]) -> str:
        """Register harness and version; returns the version's id."""
        harness = self.post("harnesses", {"name": name, "title": title, "relation": "owner"})
        made = self.post(f"harnesses/{harness['id']}/versions", {"version": version, "card": card})
        return str(made["id"])

    def upload(self, version_id: str, data: bytes) -> str:
        """Declare the digest, send the parts to the store, complete; returns the upload's id."""
        with tempfile.TemporaryDirectory() as place, _failing("upload"):
            path = Path(place) / "bundle.tar.gz"
            path.write_bytes(data)
            uploader = Uploader(self._site, Project(Path(place)), measured(path))
            declared = uploader.begin(version_id, _key("uploads", {"version": version_id, "data": data}))
            return str(uploader.send(declared, done={})["id"])

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


def _key(path: str, body: dict[str, Any]) -> str:
    return hashlib.sha256(repr((path, sorted(body.items(), key=str))).encode()).hexdigest()


@contextmanager
def _failing(what: str) -> Iterator[None]:
    try:
        yield
    except Trouble as trouble:
        raise JobFailed(f"{what}: {trouble.code}: {trouble.cause}") from None
