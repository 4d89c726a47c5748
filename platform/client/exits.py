"""What the exit code of `lgbench` says. The table in docs/client.md is made from this."""

from __future__ import annotations

from enum import IntEnum

from client.words import say


class Exit(IntEnum):
    COMPLETE = 0
    USAGE = 2
    REFUSED = 3
    HARNESS = 4
    PLATFORM = 5
    RUNNING = 6
    HELD = 7
    BELOW = 8
    INCONCLUSIVE = 9


def meanings() -> dict[Exit, str]:
    """A sentence for each code."""
    return {
        Exit.COMPLETE: say(
            "done; with `--wait`, `wait` and `result`: the result is complete, or the preflight has passed"
        ),
        Exit.USAGE: say("wrong options, files or settings, or a request that the site cannot carry out"),
        Exit.REFUSED: say("refused by a rule: credential, quota, standing, or the submission was cancelled"),
        Exit.HARNESS: say(
            "the package, the harness or its model upstream failed: check, intake, preflight, canary, test call"
        ),
        Exit.PLATFORM: say("the platform failed or cannot be reached; you lose nothing"),
        Exit.RUNNING: say("still running when the time was up; ask again later"),
        Exit.HELD: say("held for review, or waits for your choice; the page says until when"),
        Exit.BELOW: say("below the bar: the whole interval lies under what `--min` asks"),
        Exit.INCONCLUSIVE: say("inconclusive: the interval holds the bar, or the result is incomplete"),
    }


def of_submission(state: str, fault: str = "") -> Exit:
    """What the state of a submission or preflight says; `fault` of its outcome where it ended without a result."""
    plain = {
        "complete": Exit.COMPLETE,
        "preflight_passed": Exit.COMPLETE,
        "incomplete": Exit.INCONCLUSIVE,
        "rejected": Exit.HARNESS,
        "preflight_failed": Exit.HARNESS,
        "held": Exit.HELD,
        "awaiting_choice": Exit.HELD,
    }
    if state in plain:
        return plain[state]
    if state in ("cancelled", "voided"):
        return {"platform": Exit.PLATFORM, "harness": Exit.HARNESS}.get(fault, Exit.REFUSED)
    return Exit.RUNNING


def of_trial(outcome: str | None) -> Exit:
    """What the outcome of an upstream's test call says; None where there is none yet."""
    plain = {None: Exit.RUNNING, "ok": Exit.COMPLETE, "not_tried": Exit.PLATFORM}
    return plain.get(outcome, Exit.HARNESS)


def of_problem(status: int, code: str) -> Exit:
    """What a refusal of the site says."""
    if status >= 500:
        return Exit.PLATFORM
    if code.startswith(("package_", "entry_", "manifest_", "card_")):
        return Exit.HARNESS
    if status in (401, 403, 409, 429):
        return Exit.REFUSED
    return Exit.USAGE
