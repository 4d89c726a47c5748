"""What an attempt leaves for grading: one small archive of snapshot, reply, output and how it ended."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from typing import Any

from benchmark.packs import join, split
from evaluation.sandbox.spec import Outcome


@dataclass(frozen=True)
class Left:
    """The parts again. `ending` is the outcome's facts: ending, exit code, seconds, truncations, refusals."""

    snapshot: bytes
    reply: bytes | None
    stdout: bytes
    stderr: bytes
    ending: dict[str, Any]


def bundle(outcome: Outcome, snapshot: bytes, *, tokens: int | None = None) -> bytes:
    """All that is read later of an attempt, as one archive; `tokens` is None where nobody knows them."""
    ending = {
        "ending": outcome.ending.value,
        "which_budget": outcome.which_budget,
        "exit_code": outcome.exit_code,
        "seconds": outcome.seconds,
        "tokens": tokens,
        "stdout_truncated": outcome.stdout_truncated,
        "stderr_truncated": outcome.stderr_truncated,
        "snapshot_truncated": outcome.snapshot_truncated,
        "reply_truncated": outcome.reply_truncated,
        "refused": list(outcome.refused),
        "limit_hits": list(outcome.limit_hits),
        "manifest": dict(outcome.manifest),
    }
    files = {
        "ending.json": json.dumps(ending, ensure_ascii=False, default=str).encode(),
        "snapshot.tar": snapshot,
        "stdout": outcome.stdout,
        "stderr": outcome.stderr,
    }
    if outcome.reply is not None:
        files["reply.md"] = outcome.reply
    return join(files)


def unbundle(data: bytes) -> Left:
    files = split(data)
    return Left(
        snapshot=files["snapshot.tar"],
        reply=files.get("reply.md"),
        stdout=files["stdout"],
        stderr=files["stderr"],
        ending=json.loads(files["ending.json"]),
    )


def digest(data: bytes) -> str:
    """SHA-256 in hex, for the attempt's row and event."""
    return hashlib.sha256(data).hexdigest()


def answer_digest(snapshot: bytes, reply: bytes | None, before: bytes) -> str:
    """SHA-256 in hex of what a run answered: files added, changed or removed since `before`, and its reply.

    Both are tar archives. Not how long it took, nor what the task brought along: so two runs of a task have it alike
    where they answer alike, and a template has it alike on every task.
    """
    try:
        then, now = _contents(before), _contents(snapshot) if snapshot else {}
    except (tarfile.TarError, UnicodeError, ValueError, OSError, EOFError):
        then, now = {}, {"": digest(snapshot)}
    changed = {name: now.get(name) for name in then.keys() | now.keys() if then.get(name) != now.get(name)}
    said = None if reply is None else digest(reply)
    return digest(json.dumps([changed, said], sort_keys=True).encode())


def _contents(archive: bytes) -> dict[str, str]:
    """SHA-256 of each regular file of a tar archive, by its path."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:*") as opened:
        found = {}
        for member in opened:
            if member.isfile() and (content := opened.extractfile(member)) is not None:
                found[member.name.removeprefix("./")] = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
        return found


def readable(data: bytes, *, most: int) -> str:
    """Output as text for a page: UTF-8 with replacement, no NUL, at most `most` characters, cuts marked."""
    text = data.decode("utf-8", errors="replace").replace("\x00", "\ufffd")
    return text if len(text) <= most else text[:most] + "\n[…]"
