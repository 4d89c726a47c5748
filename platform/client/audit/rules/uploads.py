"""An upload ends once, or is complete first and given up later; it serves one submission, with the bytes it had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen

FAILED = frozenset({"failed", "aborted", "expired"})


@dataclass(slots=True)
class _Upload:
    state: str = "open"
    sha256: str = ""
    removed: bool = False
    seen: int = -1


class Uploads(Rule):
    """Ends, removals and uses of uploads."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"upload.opened", "upload.ended", "upload.removed_from_quarantine", "submission.admitted"}
    )

    def __init__(self) -> None:
        self._uploads: dict[str, _Upload] = {}

    def see(self, event: Seen) -> str | None:
        name = event.data["upload"] if event.kind == "submission.admitted" else event.subject
        found = self._uploads.setdefault(name, _Upload())
        excused = event.excused(found.seen)
        found.seen = event.position
        if event.kind == "upload.ended":
            return _ended(found, event)
        if event.kind == "submission.admitted":
            return _used(found, event, name, excused)
        if event.kind == "upload.removed_from_quarantine":
            again, found.removed = found.removed, True
            return f"the upload {name} is removed a second time" if again else None
        return None


def _ended(found: _Upload, event: Seen) -> str | None:
    before, found.state = found.state, event.outcome
    found.sha256 = event.data.get("sha256", "")
    if event.outcome != "complete" and event.outcome not in FAILED:
        return f"the upload {event.subject} ends in no known way: {event.outcome}"
    if before in FAILED or before == "used" or (before == "complete" and event.outcome == "complete"):
        return f"the upload {event.subject} ends after it was {before}"
    return None


def _used(found: _Upload, event: Seen, name: str, excused: bool) -> str | None:
    before, found.state = found.state, "used"
    if before == "used":
        return f"the upload {name} serves a second submission"
    if excused:
        return None
    if before != "complete":
        return f"the upload {name} serves a submission, but it is {before}"
    if found.sha256 != event.data["package_digest"]:
        return f"the submission {event.subject} has another package than its upload"
    return None
