"""fleet:2, second half: the scheduler alone against the broker's own rate, and a claim among few and many."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.registry import Bar, bars

TICKETS, ALONE = 3000, 600
FEW, MANY, LOOKS = 1_000, 100_000, 100
PATIENCE = 60.0
SHARE, SAME = 0.4, 1.2
SETTINGS = {"LINGEE_GRADING_BACKLOG": "1000000"}


@bars.measure("fleet:2")
def scheduler() -> list[Bar]:
    """Both on one set of servers, in one process of one thread each."""
    from config.site.stage import stage

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        place.chmod(0o711)
        with stage(place / "state", "bench", lambda text: None, SETTINGS) as site:
            os.environ.update(site.processes.environment("test"))
            site.manage("owner", "migrate", "--no-input")
            import django

            django.setup()
            share = _share(site, place)
            cost = _cost()
    return [
        Bar("scheduler_share_of_broker", figure=share, at_least=SHARE, unit="x"),
        Bar("claim_among_100000", figure=cost, at_most=SAME, unit="x"),
    ]


def _share(site: Any, place: Path) -> float:
    """Episodes a second through claim and end, over tasks that do nothing a second; the median of three pairs."""
    from tests.benchmarks import ticketed
    from tests.factories import frozen_version

    child = site.processes.worker("bench-1", role="execute", queues=[ticketed.QUEUE])
    words = ["tests.benchmarks.ticketed" if word == "config.celery" else word for word in child.command]
    site.supervisor.start(replace(child, command=words))
    version = frozen_version("bench")
    shares = []
    for number in range(3):
        empty = _empty_rate(site, place / f"n{number}")
        made = _run(version, ALONE)
        found = place / f"d{number}"
        ticketed.drain.apply_async(args=(str(found),), queue=ticketed.QUEUE)
        assert site.supervisor.wait(PATIENCE, found.exists), site.supervisor.tail("bench-1")
        time.sleep(0.2)
        seconds, count = found.read_text().split()
        assert int(count) == made, "each episode goes through once"
        shares.append(int(count) / float(seconds) / empty)
    return median(shares)


def _empty_rate(site: Any, place: Path) -> float:
    from tests.benchmarks import ticketed

    first, last = f"{place}-first", f"{place}-last"
    for number in range(TICKETS):
        file = first if number == 0 else last if number == TICKETS - 1 else ""
        ticketed.noop.apply_async(args=(file,), queue=ticketed.QUEUE)
    assert site.supervisor.wait(PATIENCE, Path(last).exists), site.supervisor.tail("bench-1")
    time.sleep(0.2)
    return (TICKETS - 1) / (float(Path(last).read_text()) - float(Path(first).read_text()))


def _run(version: Any, episodes: int) -> int:
    """A run of about so many episodes; returns of how many."""
    from benchmark.models import Group, TaskRevision
    from tests.factories import run_of

    tasks = TaskRevision.objects.filter(version=version, group=Group.HELD_OUT).count()
    return run_of(version, runs_per_task=-(-episodes // tasks)).total


COPIES = """
INSERT INTO evaluation_episode (run_id, task_id, run_index, position, state, fence, worker, kernel, attempts,
  grading_attempts)
SELECT run_id, task_id, run_index + 300 * copy, position + 10000 * copy, 'ready', 0, '', '', 0, 0
FROM evaluation_episode, generate_series(1, %s) AS copy WHERE run_id = %s
"""


def _cost() -> float:
    """Seconds of a claim among 100,000 queued episodes over one among 1,000, before and after, by medians."""
    from django.db import connection

    from evaluation.models import EvaluationRun
    from tests.factories import frozen_version

    _run(frozen_version("bench-queue"), FEW)
    run = EvaluationRun.objects.latest("created_at")
    few = _claims()
    with connection.cursor() as cursor:
        cursor.execute(COPIES, [MANY // FEW - 1, run.pk])
        cursor.execute("ANALYZE evaluation_episode")
        many = _claims()
        cursor.execute("DELETE FROM evaluation_episode WHERE run_id = %s AND run_index >= 300", [run.pk])
        cursor.execute("VACUUM ANALYZE evaluation_episode")
    return many / ((few + _claims()) / 2)


def _claims() -> float:
    """The median of the seconds that one claim and its end take."""
    from evaluation import claims
    from evaluation.claims import Finish
    from evaluation.models import Ending
    from tests.factories import BY

    done = Finish(ending=Ending.FINISHED, artefact_key="bench", artefact_sha256="0" * 64)
    spent = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        claim = claims.claim_execution("bench", "kernel", "host")
        assert claim is not None
        claims.finish_attempt(claim, done, by=BY)
        spent.append(time.perf_counter() - began)
    return median(spent)
