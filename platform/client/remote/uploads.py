"""Sending a bundle in parts to signed addresses. What was sent is written down beside the bundle, part by part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import httpx

from client.exits import Exit
from client.packing import Bundle
from client.project import Project
from client.remote.http import NETWORK, TRIES, Site, pause, unreachable
from client.trouble import Trouble
from client.words import say

STORED = frozenset({"complete", "consumed"})
OPEN = frozenset({"open", "verifying"})
PART_TIMEOUT = httpx.Timeout(300.0, connect=10.0)
NOTE = "upload.json"
EXPIRED = frozenset({400, 403})
"""What stores answer for a signed address whose time is over."""


@dataclass
class Uploader:
    """One bundle on its way. `report(sent, total)` counts bytes."""

    site: Site
    project: Project
    bundle: Bundle
    report: Callable[[int, int], object] = lambda sent, total: None
    purpose: str = ""
    """What the site is to ask its quota for; empty for a submission."""
    kind: str = "bundle"

    def begin(self, version_id: str, key: str) -> dict[str, Any]:
        """The upload declared under this key: open, or stored already where an earlier command sent all of it."""
        body = {"harness_version": version_id, "sha256": self.bundle.digest, "size": self.bundle.size}
        if self.purpose:
            body["purpose"] = self.purpose
        if self.kind != "bundle":
            body["kind"] = self.kind
        declared = self.site.post("uploads", body, key=key)
        return {**declared, **self.site.get(f"uploads/{declared['id']}")}

    def send(self, upload: dict[str, Any], *, done: dict[int, str]) -> dict[str, Any]:
        """Send the parts that `done` (number → ETag) lacks, then complete. One that is stored is a success as it is."""
        if upload["state"] in STORED:
            self.report(self.bundle.size, self.bundle.size)
            return upload
        parts = {int(part["number"]): part for part in upload["parts"]}
        offsets = _offsets(parts)
        sent = sum(int(parts[number]["size"]) for number in parts if number in done)
        self.report(sent, self.bundle.size)
        with self.bundle.path.open("rb") as file, httpx.Client(timeout=PART_TIMEOUT) as store:
            for number in sorted(parts):
                if number in done:
                    continue
                file.seek(offsets[number])
                content = _read(file, int(parts[number]["size"]))
                done[number] = self._send(store, upload["id"], parts, number, content)
                sent += len(content)
                self._note(upload["id"], done)
                self.report(sent, self.bundle.size)
        listed = [{"number": number, "etag": done[number]} for number in sorted(done)]
        return self.site.post(f"uploads/{upload['id']}/complete", {"parts": listed})

    def noted(self, upload_id: str) -> dict[int, str]:
        """Parts of this upload that an earlier command sent."""
        note = self.project.kept(NOTE) or {}
        same = note.get("upload") == upload_id and note.get("sha256") == self.bundle.digest
        parts = note.get("parts") if same else None
        return {int(number): str(etag) for number, etag in parts.items()} if isinstance(parts, dict) else {}

    def _note(self, upload_id: str, done: dict[int, str]) -> None:
        parts = {str(number): etag for number, etag in sorted(done.items())}
        self.project.keep(NOTE, {"upload": upload_id, "sha256": self.bundle.digest, "parts": parts})

    def _send(
        self,
        store: httpx.Client,
        upload_id: str,
        parts: dict[int, dict[str, Any]],
        number: int,
        content: bytes,
    ) -> str:
        """PUT one part, repeated where the network stumbles, with fresh addresses where they expired; its ETag."""
        renewed = False
        for attempt in range(TRIES):
            try:
                answer = store.put(parts[number]["url"], content=content)
            except NETWORK as error:
                if attempt == TRIES - 1:
                    raise interrupted(len(parts), number, error) from None
                self.site.wait(pause(attempt))
                continue
            if answer.is_success and "etag" in answer.headers:
                return str(answer.headers["etag"])
            if answer.status_code in EXPIRED and not renewed:
                renewed = True
                fresh = self.site.get(f"uploads/{upload_id}")["parts"]
                parts.update({int(part["number"]): part for part in fresh})
                continue
            if answer.status_code < 500 or attempt == TRIES - 1:
                raise _store_refused(number, answer.status_code)
            self.site.wait(pause(attempt))
        raise AssertionError("unreachable")


def _offsets(parts: dict[int, dict[str, Any]]) -> dict[int, int]:
    found, at = {}, 0
    for number in sorted(parts):
        found[number] = at
        at += int(parts[number]["size"])
    return found


def _read(file: BinaryIO, size: int) -> bytes:
    content = file.read(size)
    if len(content) != size:
        raise Trouble(
            "bundle_changed",
            say("The bundle has changed while it was sent."),
            hint=say("Run the command again."),
            exit=Exit.USAGE,
        )
    return content


def interrupted(total: int, number: int, error: Exception) -> Trouble:
    """The network is gone; what was sent is kept. The address of the store is signed and not repeated."""
    found = unreachable(say("the store"), error)
    return Trouble(
        "upload_interrupted",
        say("Part {number} of {total} could not be sent: {cause}").format(
            number=number, total=total, cause=found.cause
        ),
        hint=say("Run `lgbench submit --resume`: it sends what is missing, within a day."),
        exit=Exit.PLATFORM,
    )


def _store_refused(number: int, status: int) -> Trouble:
    return Trouble(
        "store_refused",
        say("The store did not take part {number}: it answered {status}.").format(
            number=number, status=status
        ),
        hint=say("Run `lgbench submit --resume`; if it stays, run it without `--resume`."),
        exit=Exit.PLATFORM,
    )
