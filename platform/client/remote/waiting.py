"""Looking after a submission until it has ended or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from client.exits import Exit, of_submission
from client.remote.http import Site

FIRST_PAUSE = 2.0
LONGEST_PAUSE = 30.0
GROWTH = 1.3


def follow(
    site: Site,
    submission_id: str,
    *,
    timeout: float | None,
    report: Callable[[dict[str, Any]], object],
    passed: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Poll, ever more slowly, until nothing moves by itself any more or `timeout` seconds are over."""
    begun, pause = passed(), FIRST_PAUSE
    while True:
        found = site.get(f"submissions/{submission_id}")
        report(found)
        if exit_of(found) is not Exit.RUNNING:
            return found
        left = None if timeout is None else timeout - (passed() - begun)
        if left is not None and left <= 0:
            return found
        site.wait(pause if left is None else min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)


def exit_of(submission: dict[str, Any]) -> Exit:
    """What the present state says."""
    outcome = submission.get("outcome") or {}
    return of_submission(str(submission["state"]), str(outcome.get("fault", "")))
