"""Technical faults of grading: never a score."""

from __future__ import annotations


class ScriptFault(RuntimeError):
    """A check script cannot be run, or gave no score."""


class ScriptFailed(ScriptFault):
    """A check script that ran on an answer failed, took too long or printed no score.

    On a sample answer that is a fault of the task. On a run it is a failed item: the script is proved by the
    samples, so what makes it fail is what the run left.
    """
