"""Celery entry points of the log."""

from __future__ import annotations

from celery import shared_task

from audit import exports, integrity, reads


@shared_task(name="audit.tasks.close_windows")
def close_windows() -> None:
    """Turn counts of unchanged and of refused reads into events once their window is over."""
    reads.close_windows()


@shared_task(name="audit.tasks.make_exports")
def make_exports() -> None:
    """Make every export that waits (queue `governance`: it reads events as the auditor's role)."""
    exports.make_due()


@shared_task(name="audit.tasks.check_stretch")
def check_stretch() -> None:
    """Compute the next stretch of the log again (queue `governance`)."""
    integrity.check_if_due()
