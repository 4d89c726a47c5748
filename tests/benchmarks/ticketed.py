"""The Celery application of the scheduler's bars: a task that does nothing, and one that drains the queue alone."""

from __future__ import annotations

import time
from pathlib import Path

from config.celery import app

QUEUE = "web"
"""Its workers prove no sandbox: none is used here."""


@app.task(name="bench.noop")
def noop(file: str = "") -> None:
    """Nothing, but for the first and the last of a row, which note the time."""
    if file:
        Path(file).write_text(repr(time.monotonic()))


@app.task(name="bench.drain")
def drain(file: str) -> None:
    """Claim and end every episode there is, as an execute worker does, but for the sandbox; notes seconds and count."""
    from audit.events import Actor
    from evaluation import claims
    from evaluation.claims import Finish
    from evaluation.models import Ending

    by, count, began = Actor(kind="worker", id="bench"), 0, time.monotonic()
    done = Finish(
        ending=Ending.FINISHED,
        exit_code=0,
        seconds=1.0,
        isolation="none",
        has_output=True,
        artefact_key="bench",
        artefact_sha256="0" * 64,
    )
    while (claim := claims.claim_execution("bench", "kernel", "host")) is not None:
        claims.finish_attempt(claim, done, by=by)
        count += 1
    Path(file).write_text(f"{time.monotonic() - began} {count}")
