"""The one error of this package."""

from __future__ import annotations


class TaskDirError(ValueError):
    """A task directory does not keep its contract; the text begins with the file and key it is about."""
