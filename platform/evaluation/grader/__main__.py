"""Grade one run in the grading sandbox: reads below /grade, writes /grade/out/reward.json.

    /grade/rules.json            the task's rules
    /grade/scripts/              its check scripts, by their last name
    /grade/run/workspace/        what the run left, regular files only
    /grade/run/reply.md          its reply, absent where there was none

Exit codes: 0 a reward was written; 2 the rules are broken; 3 a check script is missing; 1 anything else. Every
code but 0 is a technical fault of the platform, never a zero for the run; none of them is in the power of what
the run left. A script that fails on it is a failed item. Another root than /grade may be
given as the only argument. Runs as a module or, under `python -S -I`, by the path of this file.
"""

from __future__ import annotations

import sys

if not __package__:
    sys.path.insert(0, __file__.rpartition("/evaluation/grader/")[0])

import json
from decimal import Decimal
from pathlib import Path

from evaluation.grader import reward
from evaluation.grader.effort import Effort
from evaluation.grader.faults import ScriptFailed, ScriptFault
from scoring import rules
from scoring.artefacts import MAX_REPLY_CHARS, ArtefactError, Artefacts, Reason
from scoring.channel import grade

MAX_RULES_BYTES = 8 * 1024 * 1024
# A character of UTF-8 has at most four bytes; what lies beyond is never read.
_MAX_REPLY_BYTES = 4 * MAX_REPLY_CHARS


def main(root: Path) -> int:
    """Grade the run below `root`; returns the exit code."""
    try:
        ruleset = rules.load(json.loads(_read(root / "rules.json", MAX_RULES_BYTES)))
    except (OSError, ValueError, RecursionError) as error:
        print(f"rules: {error}", file=sys.stderr)
        return 2
    run = root / "run"
    reply = read_reply(run)
    effort = Effort()

    def check(path: str) -> Decimal:
        return _run_script(root, path, effort, has_reply=reply is not None)

    try:
        with effort.watching():
            outcome = grade(ruleset, Artefacts(run / "workspace", reply), check, effort)
    except ScriptFault as error:
        print(f"script: {error}", file=sys.stderr)
        return 3
    _write(root / "out", reward.encode(outcome))
    return 0


def read_reply(run: Path) -> str | None:
    """The reply of a run, None where there is none or it is no regular file; cut at its cap."""
    artefacts = Artefacts(run, None)
    if not artefacts.is_file("reply.md"):
        return None
    try:
        return artefacts.read("reply.md", _MAX_REPLY_BYTES).decode("utf-8", "replace")[:MAX_REPLY_CHARS]
    except ArtefactError:
        return None


def _read(file: Path, most: int) -> bytes:
    with file.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{file.name}: larger than {most} bytes")
    return content


def _run_script(root: Path, path: str, effort: Effort, *, has_reply: bool) -> Decimal:
    from evaluation.grader.scripts import SECONDS, run_script

    run = root / "run"
    script, reply = root / "scripts" / path.rpartition("/")[2], run / "reply.md" if has_reply else None
    try:
        with effort.script(SECONDS) as seconds:
            return run_script(script, run / "workspace", reply, seconds=seconds)
    except ScriptFailed as error:
        print(f"script: {error}", file=sys.stderr)
        raise ArtefactError(Reason.MALFORMED) from None


def _write(folder: Path, content: bytes) -> None:
    """Write the reward under its name in one step, so that a half-written one is never read."""
    unfinished = folder / "reward.json.part"
    unfinished.write_bytes(content)
    unfinished.replace(folder / "reward.json")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "/grade")))
