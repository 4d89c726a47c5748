"""An upload is checked, then complete or failed; it is used by one submission, with the bytes it had, or given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from client.audit.rules.base import Rule, Seen

FAILED = frozenset({"failed", "aborted", "expired"})


@dataclass(slots=True)
class _Upload:
    state: str = "open"
    sha256: str = ""
    submission: str = ""
    removed: bool = False
    seen: int = -1


class Uploads(Rule):
    """Checks, ends, uses and removals of uploads."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            *("upload.opened", "upload.verifying", "upload.ended", "upload.used"),
            *("upload.removed_from_quarantine", "submission.admitted", "preflight.admitted"),
        }
    )

    def __init__(self) -> None:
        self._uploads: dict[str, _Upload] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "preflight.admitted":
            return self._read(event)
        admitted = event.kind == "submission.admitted"
        name = event.data["upload"] if admitted else event.subject
        found = self._uploads.setdefault(name, _Upload())
        since, found.seen = found.seen, event.position
        if admitted:
            return _admitted(found, event, since)
        return _STEPS[event.kind](found, event, since)

    def _read(self, event: Seen) -> str | None:
        """A preflight on its own uses no upload up, but has the bytes of one that is complete."""
        name = event.data["upload"]
        found = self._uploads.get(name, _Upload())
        if found.state == "used":
            return f"the preflight {event.subject} is admitted with an upload that was used"
        if found.state != "complete":
            return (
                None if event.excused(found.seen) else f"the preflight {event.subject} has no complete upload"
            )
        if found.sha256 != event.data["package_digest"]:
            return f"the preflight {event.subject} has another package than its upload"
        return None


def _opened(found: _Upload, event: Seen, since: int) -> str | None:
    return None


def _verifying(found: _Upload, event: Seen, since: int) -> str | None:
    """May begin again where the first check never came to an end."""
    before, found.state = found.state, "verifying"
    if before not in ("open", "verifying") and not event.excused(since):
        return f"the upload {event.subject} is checked after it was {before}"
    return None


def _ended(found: _Upload, event: Seen, since: int) -> str | None:
    before, found.state = found.state, event.outcome
    found.sha256 = event.data.get("sha256", "")
    if event.outcome != "complete" and event.outcome not in FAILED:
        return f"the upload {event.subject} ends in no known way: {event.outcome}"
    if before in FAILED or before == "used" or (before == "complete" and event.outcome == "complete"):
        return f"the upload {event.subject} ends after it was {before}"
    if event.outcome == "complete" and before == "open" and not event.excused(since):
        return f"the upload {event.subject} is complete without having been checked"
    return None


def _used(found: _Upload, event: Seen, since: int) -> str | None:
    before, found.state = found.state, "used"
    found.submission = event.data["submission"]
    if before == "used":
        return f"the upload {event.subject} is used a second time"
    if before != "complete" and not event.excused(since):
        return f"the upload {event.subject} is used, but it is {before}"
    return None


def _removed(found: _Upload, event: Seen, since: int) -> str | None:
    again, found.removed = found.removed, True
    return f"the upload {event.subject} is removed a second time" if again else None


def _admitted(found: _Upload, event: Seen, since: int) -> str | None:
    before, found.state = found.state, "used"
    if before == "used" and found.submission not in ("", event.subject):
        return f"the submission {event.subject} is admitted with an upload that another one used"
    found.submission = event.subject
    if before != "used":
        if event.excused(since):
            return None
        return f"the submission {event.subject} is admitted with an upload that it did not use"
    if found.sha256 != event.data["package_digest"] and not event.excused():
        return f"the submission {event.subject} has another package than its upload"
    return None


_STEPS: dict[str, Callable[[_Upload, Seen, int], str | None]] = {
    "upload.opened": _opened,
    "upload.verifying": _verifying,
    "upload.ended": _ended,
    "upload.used": _used,
    "upload.removed_from_quarantine": _removed,
}
