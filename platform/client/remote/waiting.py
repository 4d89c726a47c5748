"""Looking after something until it has ended or time is up."""

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
    kind: str = "submissions",
) -> dict[str, Any]:
    """Poll a submission until nothing of it moves by itself any more or `timeout` seconds are over.

    `kind` is the resource: submissions or preflights.
    """

    def look() -> dict[str, Any]:
        found = site.get(f"{kind}/{submission_id}")
        report(found)
        return found

    return poll(look, lambda found: exit_of(found) is not Exit.RUNNING, site.wait, timeout=timeout)


def poll(
    look: Callable[[], dict[str, Any]],
    over: Callable[[dict[str, Any]], bool],
    wait: Callable[[float], object],
    *,
    timeout: float | None,
    passed: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Look, ever more slowly, until it is `over` or `timeout` seconds have passed; what was seen last."""
    begun, pause = passed(), FIRST_PAUSE
    while True:
        found = look()
        left = None if timeout is None else timeout - (passed() - begun)
        if over(found) or (left is not None and left <= 0):
            return found
        wait(pause if left is None else min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)


def exit_of(submission: dict[str, Any]) -> Exit:
    """What the present state says."""
    outcome = submission.get("outcome") or {}
    return of_submission(str(submission["state"]), str(outcome.get("fault", "")))
