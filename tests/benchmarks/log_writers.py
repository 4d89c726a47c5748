"""Writers of log:4: `python -m tests.benchmarks.log_writers KIND WRITERS SECONDS` prints the committed transactions.

Each writer is a process with a connection of its own; each of its transactions does 5 ms of other work and then
appends an event (KIND `append`), or makes the same bytes and inserts them into an ordinary table (`plain`). All begin
to count at the same moment, each with one transaction behind it: what a session does once is not measured.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

WORK_SECONDS = 0.005
START_SECONDS = 1.0
PLAIN = "INSERT INTO bench_plain (body) VALUES (%s) RETURNING id"


def transactions(write: Callable[[int], object], start: float, seconds: float) -> int:
    """Commit once, and from `start` (monotonic) for so long; returns how many of those there were."""
    _commit(write, 0)
    time.sleep(max(0.0, start - time.monotonic()))
    count = 0
    while time.monotonic() < start + seconds:
        count += 1
        _commit(write, count)
    return count


def _commit(write: Callable[[int], object], number: int) -> None:
    from django.db import transaction

    with transaction.atomic():
        time.sleep(WORK_SECONDS)
        write(number)


def writer(kind: str) -> Callable[[int], object]:
    """What a transaction writes."""
    from typing import ClassVar

    from django.db import connection

    from audit import log
    from audit.events import Event, system

    class Moved(Event):
        kind: ClassVar[str] = "bench.moved"
        subject_type: ClassVar[str] = "bench"
        note: str

    by = system("bench")

    def event(number: int) -> Moved:
        return Moved(subject=f"s-{os.getpid()}-{number}", note="x" * 120)

    def plain(number: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(PLAIN, [log.entry(event(number), by=by)])
            cursor.fetchone()

    return plain if kind == "plain" else lambda number: log.append(event(number), by=by)


def main() -> None:
    kind, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    import django

    django.setup()
    write = writer(kind)
    start = time.monotonic() + START_SECONDS
    pipes = []
    for _ in range(writers):
        inward, outward = os.pipe()
        if os.fork() == 0:
            os.write(outward, f"{transactions(write, start, seconds)}\n".encode())
            os._exit(0)
        os.close(outward)
        pipes.append(inward)
    counts = [os.read(inward, 100) for inward in pipes]
    assert all(counts), "a writer died"
    print(sum(int(count) for count in counts))


if __name__ == "__main__":
    main()
