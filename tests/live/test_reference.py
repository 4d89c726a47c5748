"""Every task can be solved from what a harness is given: the reference solver scores full through the real pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from benchmark.models import TaskRevision
from evaluation.models import EvaluationRun, PublicTaskResult, TaskResult
from tests.live.fleet import Fleet

pytestmark = [pytest.mark.serial, pytest.mark.timeout(600)]


@pytest.mark.case("H23")
def test_reference_solutions_score_full(make_fleet: Callable[..., Fleet], imported: Any) -> None:
    fleet = make_fleet()
    public = fleet.submit("reference", kind=EvaluationRun.Kind.PREFLIGHT)
    held_out = fleet.finish(fleet.submit("reference"))
    fleet.finish(public)
    results = [
        *TaskResult.objects.filter(episode__run=held_out).values_list("episode__task_id", "score", "success"),
        *PublicTaskResult.objects.filter(run=public).values_list("task_id", "score", "success"),
    ]
    assert len(results) == imported.tasks.count()
    slugs = dict(TaskRevision.objects.values_list("id", "slug"))
    short = [slugs[task] for task, score, success in results if score != 1 or not success]
    endings = TaskResult.objects.exclude(ending="finished").values_list(
        "episode__task__slug", "ending", "seconds"
    )
    assert not short, (short, list(endings))
    families = Counter(imported.tasks.values_list("family", flat=True))
    assert min(families.values()) >= 2
