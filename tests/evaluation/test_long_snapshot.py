"""A session that holds an old snapshot keeps dead rows alive: claims stay quick all the same."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import pytest

from evaluation import claims
from evaluation.claims import Finish
from evaluation.models import Ending, Episode
from tests.factories import BY, frozen_version, run_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.serial]

LIMIT_SECONDS = 0.050
FINISHED = Finish(ending=Ending.FINISHED, artefact_key="a", artefact_sha256="0" * 64)


@pytest.mark.acceptance("log:8")
@pytest.mark.case("S34")
@pytest.mark.parametrize("runs", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_claims_stay_quick_beside_an_old_snapshot(runs: int, connect_as: Any, settings: Any) -> None:
    """600 episodes are a minute of two busy workers, 6,000 are ten."""
    settings.GRADING_BACKLOG = 1_000_000  # nobody grades here
    run = run_of(frozen_version("8.20", {"general": (1, 600)}), runs_per_task=runs)
    with connect_as("owner") as old:
        old.autocommit = False
        old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        seen = old.execute("SELECT count(*) FROM evaluation_episode WHERE state = 'ready'").fetchone()
        times = [_cycle() for _ in range(600 * runs)]
        assert old.execute("SELECT count(*) FROM evaluation_episode WHERE state = 'ready'").fetchone() == seen
        old.rollback()
    assert Episode.objects.filter(run=run, state=Episode.State.EXECUTED).count() == 600 * runs
    assert sorted(times)[int(len(times) * 0.99)] < LIMIT_SECONDS


def _cycle() -> float:
    """Seconds of one claim; its end is written too, so that rows die as they do in a run."""
    began = time.perf_counter()
    claim = claims.claim_execution("w", "kernel")
    taken = time.perf_counter() - began
    assert claim is not None
    assert claims.finish_attempt(claim, FINISHED, by=BY)
    return taken
