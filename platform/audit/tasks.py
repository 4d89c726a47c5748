"""Celery entry points of the log."""

from __future__ import annotations

from celery import shared_task

from audit import reads


@shared_task(name="audit.tasks.close_windows")
def close_windows() -> None:
    """Turn counts of unchanged and of refused reads into events once their window is over."""
    reads.close_windows()
