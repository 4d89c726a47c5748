"""What a tick does for many, one after the other: whoever's step fails keeps nobody else waiting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

logger = structlog.get_logger(__name__)


class Steps:
    """Steps of one tick. A fault is logged at once, and raised when all are done, so that the tick counts as failed."""

    def __init__(self) -> None:
        self._faults: list[Exception] = []

    @contextmanager
    def each(self, what: str, which: object = "") -> Iterator[None]:
        """One step; `what` names it in the operator's log, `which` is the id of its subject."""
        try:
            yield
        except Exception as fault:
            logger.exception("step_failed", step=what, subject=str(which))
            self._faults.append(fault)

    def end(self) -> None:
        """Raises ExceptionGroup where a step failed."""
        if self._faults:
            raise ExceptionGroup("steps of a tick failed", self._faults)
