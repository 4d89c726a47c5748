"""log:7: what the audit log costs an episode, as a share of all that the platform spends on one.

The sequencer's share is read from its process and its database backend during a run of the fixed sample. What an
event costs where it is written is measured apart: the end of an attempt as the platform writes it, against the same
row in a table that nothing watches, processor time of client and backend together.
"""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import psycopg

from tests.benchmarks import overhead
from tests.benchmarks.overhead import SAMPLE
from tests.benchmarks.registry import Bar, bars

SHARE = 0.10
TRANSACTIONS = 1000
RUNS = 2
COPIES = """
CREATE TABLE bench_bare (LIKE evaluation_attempt INCLUDING ALL);
CREATE TABLE bench_watched (LIKE evaluation_attempt INCLUDING ALL);
INSERT INTO bench_bare SELECT * FROM evaluation_attempt WHERE ended_at IS NOT NULL LIMIT 300;
INSERT INTO bench_watched SELECT * FROM bench_bare;
CREATE CONSTRAINT TRIGGER watched AFTER UPDATE ON bench_watched DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION audit_demand_event('attempt', 'id');
GRANT SELECT, UPDATE ON bench_bare, bench_watched TO lingee_test;
"""
"""The same rows twice: one table that nothing watches, one that is governed as attempts are."""


@bars.measure("log:7")
def cost() -> list[Bar]:
    """Audit processor time an episode over the platform's, both from the same runs."""
    from config.site.stage import stage

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        place.chmod(0o711)
        with stage(place / "state", "bench", lambda text: None) as site:
            os.environ.update(site.processes.environment("test"))
            version = overhead._prepare(site, place)
            overhead._start(site)
            platform, sequencer = [], []
            for _ in range(RUNS):
                before = _sequencer_seconds()
                _, spent, _ = overhead._platform(site, version)
                sequencer.append((_sequencer_seconds() - before) / SAMPLE)
                platform.append(spent / SAMPLE)
            events = _events_per_episode(site)
            append = _append_seconds(site)
    audit = median(sequencer) + events * append
    return [
        Bar("audit_share", figure=audit / median(platform), at_most=SHARE),
        Bar("audit_cpu_per_episode", figure=1000 * audit, at_most=1000 * SHARE * median(platform), unit="ms"),
    ]


def _sequencer_seconds() -> float:
    """Processor time of the sequencer and of its session's backend."""
    return _seconds(lambda words: "manage.py sequencer" in words or "postgres: lingee_sequencer" in words)


def _seconds(chosen: Callable[[str], bool]) -> float:
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            if chosen(" ".join(process.cmdline())):
                times = process.cpu_times()
                total += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return total


def _events_per_episode(site: Any) -> float:
    with psycopg.connect(site.processes.environment("owner")["DATABASE_URL"]) as owner:
        row = owner.execute(
            "SELECT (SELECT count(*) FROM audit_event WHERE subject_type = 'attempt')::float"
            " / (SELECT count(*) FROM evaluation_episode)"
        ).fetchone()
    assert row is not None
    return float(row[0])


def _append_seconds(site: Any) -> float:
    """What a watched change with its event costs above the same change of an unwatched row; median of three pairs."""
    with psycopg.connect(site.processes.environment("owner")["DATABASE_URL"]) as owner:
        owner.execute(COPIES)
    pairs = [_measured(_with_event) - _measured(_without) for _ in range(3)]
    return max(0.0, median(pairs))


def _measured(write: Callable[[Any, uuid.UUID, int], None]) -> float:
    """Processor seconds a transaction, of this process and of its backend."""
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")  # waiting for the disk takes no processor time
        cursor.execute("SELECT id FROM bench_bare")
        ids = [row[0] for row in cursor.fetchall()]
    own, backend = time.process_time(), _seconds(_is_own_backend)
    for number in range(TRANSACTIONS):
        with transaction.atomic(), connection.cursor() as cursor:
            write(cursor, ids[number % len(ids)], number)
    return (time.process_time() - own + _seconds(_is_own_backend) - backend) / TRANSACTIONS


def _is_own_backend(words: str) -> bool:
    return "postgres: lingee_test" in words


def _without(cursor: Any, attempt: uuid.UUID, number: int) -> None:
    cursor.execute("UPDATE bench_bare SET cause = %s WHERE id = %s", [str(number), attempt])


def _with_event(cursor: Any, attempt: uuid.UUID, number: int) -> None:
    from audit import log
    from evaluation.events import AttemptEnded
    from tests.factories import BY

    cursor.execute("UPDATE bench_watched SET cause = %s WHERE id = %s", [str(number), attempt])
    event = AttemptEnded(subject=attempt, run=str(attempt), number=1, ending="finished", artefact="0" * 64)
    log.append(event, by=BY)
