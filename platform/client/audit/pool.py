"""Bundles checked in order, here or by helper processes; never more than a few are on their way."""

from __future__ import annotations

import gc
import marshal
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from client.audit.bundles import Checked, Task, check_bundle

CHUNK = 4
"""Bundles a helper takes at once."""
ALONE_BELOW = 64
"""Bundles that do not repay the start of helpers."""
MOST_HELPERS = 4
_task: list[Task] = []


def helpers(bundles: int, wanted: int | None) -> int:
    """How many helper processes to use; 0 is none."""
    if wanted is None:
        wanted = min(os.cpu_count() or 1, MOST_HELPERS) if bundles >= ALONE_BELOW else 0
    return wanted if wanted > 1 else 0


def check_all(task: Task, bundles: int, wanted: int | None = None) -> Iterator[Checked]:
    """Every bundle from 0 on."""
    count = helpers(bundles, wanted)
    if not count:
        yield from (check_bundle(task, number) for number in range(bundles))
        return
    with ProcessPoolExecutor(count, initializer=_begin, initargs=(task,)) as pool:
        waiting: deque[Future[tuple[list[Checked], bytes]]] = deque()
        for begin in range(0, bundles, CHUNK):
            waiting.append(pool.submit(_chunk, begin, min(begin + CHUNK, bundles)))
            if len(waiting) > 4 * count:
                yield from _unpack(*waiting.popleft().result())
        while waiting:
            yield from _unpack(*waiting.popleft().result())


def _begin(task: Task) -> None:
    gc.disable()
    _task[:] = [task]


def _chunk(begin: int, end: int) -> tuple[list[Checked], bytes]:
    """Some bundles, the facts of their entries apart: plain strings and numbers travel far more cheaply that way."""
    found = [check_bundle(_task[0], number) for number in range(begin, end)]
    facts = marshal.dumps([checked.facts for checked in found])
    for checked in found:
        checked.facts = []
    return found, facts


def _unpack(found: list[Checked], facts: bytes) -> list[Checked]:
    for checked, own in zip(found, marshal.loads(facts), strict=True):  # noqa: S302 (from our own helper)
        checked.facts = own
    return found
