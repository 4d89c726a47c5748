"""Technical faults of grading: never a score."""

from __future__ import annotations


class ScriptFault(RuntimeError):
    """A check script failed, ran too long or printed no score."""
