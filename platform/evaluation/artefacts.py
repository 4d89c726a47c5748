"""What an attempt leaves for grading: one small archive of snapshot, reply, output and how it ended."""

from __future__ import annotations

import hashlib
import json
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


def bundle(outcome: Outcome, snapshot: bytes) -> bytes:
    """All that is read later of an attempt, as one archive."""
    ending = {
        "ending": outcome.ending.value,
        "which_budget": outcome.which_budget,
        "exit_code": outcome.exit_code,
        "seconds": outcome.seconds,
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


def answer_digest(snapshot: bytes, reply: bytes | None) -> str:
    """SHA-256 in hex of what a run answered and nothing else: workspace and reply, not how long it took."""
    found = hashlib.sha256(hashlib.sha256(snapshot).digest())
    found.update(b"" if reply is None else hashlib.sha256(reply).digest())
    return found.hexdigest()


def readable(data: bytes, *, most: int) -> str:
    """Output as text for a page: UTF-8 with replacement, no NUL, at most `most` characters, cuts marked."""
    text = data.decode("utf-8", errors="replace").replace("\x00", "\ufffd")
    return text if len(text) <= most else text[:most] + "\n[…]"
