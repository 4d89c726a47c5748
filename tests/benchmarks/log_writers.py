"""Writers of log:4: `python -m tests.benchmarks.log_writers KIND WRITERS SECONDS` prints the committed transactions.

Each writer is a process with a connection of its own; each of its transactions does 5 ms of other work and then
appends an event (KIND `append`), or makes the same bytes and inserts them into an ordinary table (`plain`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

WORK_SECONDS = 0.005
PLAIN = "INSERT INTO bench_plain (body) VALUES (%s) RETURNING id"


def transactions(write: Callable[[int], object], until: float) -> int:
    """Commit until the deadline (monotonic seconds); returns how many."""
    from django.db import transaction

    count = 0
    while time.monotonic() < until:
        with transaction.atomic():
            time.sleep(WORK_SECONDS)
            write(count)
        count += 1
    return count


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
    until = time.monotonic() + seconds
    pipes = []
    for _ in range(writers):
        inward, outward = os.pipe()
        if os.fork() == 0:
            os.write(outward, f"{transactions(write, until)}\n".encode())
            os._exit(0)
        os.close(outward)
        pipes.append(inward)
    counts = [os.read(inward, 100) for inward in pipes]
    assert all(counts), "a writer died"
    print(sum(int(count) for count in counts))


if __name__ == "__main__":
    main()
