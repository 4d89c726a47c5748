"""Results are released on ticks, delivered as released, to their own organisation only, each an event first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from django.test import Client

from benchmark.models import TaskSetVersion
from config import clock
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, TaskResult
from governance import services
from governance.models import DomainAggregate, Release, SealedAggregate
from governance.tasks import tick
from submissions.models import Submission
from submissions.problems import Code
from tests.factories import BY, saved
from tests.pages import site
from tests.submissions import world
from tests.submissions.outcomes import bring_to, lose

pytestmark = pytest.mark.django_db

SCORES = {"general": "0.455", "finance": "0.4449", "supply_chain": "0.5", "manufacturing": "0.505"}
SHOWN = {"general": 46, "finance": 44, "supply_chain": 50, "manufacturing": 51}
"""Half up; the enterprise value is the mean of 44, 50 and 51 = 48.33 → 48."""


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def task_set() -> TaskSetVersion:
    found = world.task_set()
    services.set_release_policy(found, profile="demo", tick_seconds=5, by=BY)
    return found


@pytest.fixture
def graded(vendor: world.Vendor, task_set: TaskSetVersion) -> Submission:
    """A submission whose held-out run has ended, with the same score for all tasks of a domain."""
    submission = bring_to(vendor.submit(task_set, vendor.harness()), "running")
    write_results(submission)
    return bring_on(submission)


def write_results(submission: Submission, skip: int = 0) -> None:
    for episode in Episode.objects.filter(run=submission.held_out_run).select_related("task")[skip:]:
        attempt = Attempt.objects.create(
            episode=episode, number=1, fence=1, worker="w", started_at=clock.now(), ending=Ending.FINISHED
        )
        TaskResult.objects.create(
            episode=episode,
            attempt=attempt,
            score=Decimal(SCORES[episode.task.domain]),
            success=False,
            failure_type="numeric_or_state_error",
            ending=Ending.FINISHED,
            seconds=1.5,
            grader_version="1",
            graded_at=clock.now(),
        )


def bring_on(submission: Submission) -> Submission:
    from submissions.services import advance

    world.end_run(submission.held_out_run)
    date_end(submission)
    advance(submission.id)
    submission.refresh_from_db()
    assert submission.state == "grading"
    return submission


def date_end(submission: Submission) -> None:
    run = EvaluationRun.objects.get(pk=submission.held_out_run_id)
    run.ended_at = clock.now()
    saved(run)


def released(submission: Submission) -> Release | None:
    with clock.shifted(timedelta(seconds=6)):
        return services.release_result(submission, by=BY)


def test_nothing_is_shown_before_its_tick(vendor: world.Vendor, graded: Submission) -> None:
    graded.held_out_run.ended_at = clock.now()  # type: ignore[union-attr]
    saved(graded.held_out_run)  # type: ignore[type-var]
    with clock.frozen(graded.held_out_run.ended_at):  # type: ignore[union-attr]
        tick()
    answer = vendor.api.get(f"submissions/{graded.id}/result")
    assert (answer.status, answer.code) == (409, "result_not_released")
    assert not Release.objects.exists()


def test_the_four_values_and_their_mean_are_delivered_as_released(
    vendor: world.Vendor, graded: Submission
) -> None:
    assert released(graded)
    answer = vendor.api.get(f"submissions/{graded.id}/result")
    assert answer.status == 200
    assert {name: row["value"] for name, row in answer.body["domains"].items()} == SHOWN
    assert answer.body["enterprise"]["value"] == 48
    assert (answer.body["coverage"], answer.body["complete"]) == ("1.00", True)
    graded.refresh_from_db()
    assert graded.state == "complete"


def test_a_release_happens_once(graded: Submission) -> None:
    assert released(graded)
    assert released(graded) is None
    assert DomainAggregate.objects.count() == 4
    assert SealedAggregate.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_each_delivery_is_an_event_before_the_body(
    vendor: world.Vendor, graded: Submission, connect_as: Callable[[str], psycopg.Connection[Any]]
) -> None:
    released(graded)
    browser = Client()
    site.sign_in(browser, vendor.user)
    vendor.api.get(f"submissions/{graded.id}/result")
    browser.get(f"/en/v/submissions/{graded.id}/result/")
    browser.get("/en/v/")
    rows = connect_as("auditor").execute(
        "SELECT channel FROM audit_event WHERE kind = 'result.read' AND subject_id = %s", [str(graded.id)]
    )
    assert sorted(rows.fetchall()) == [("api",), ("web",), ("web",)]


def test_where_the_event_cannot_be_written_nothing_is_sent(
    vendor: world.Vendor, graded: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(graded)

    def broken(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("no log")

    monkeypatch.setattr("governance.services.log.append", broken)
    answer = vendor.api.get(f"submissions/{graded.id}/result")
    assert answer.status >= 500
    assert "domains" not in answer.body


@pytest.mark.case("G32")
def test_anothers_result_is_not_there(graded: Submission) -> None:
    released(graded)
    stranger = world.vendor()
    theirs = stranger.api.get(f"submissions/{graded.id}/result")
    none = stranger.api.get(f"submissions/{graded.organisation_id}/result")
    assert theirs.status == none.status == 404
    assert theirs.body["code"] == none.body["code"] == "not_found"


def test_what_the_vendor_kept_incomplete_is_shown_with_its_bounds(
    vendor: world.Vendor, task_set: TaskSetVersion
) -> None:
    from submissions.services import choose, move
    from submissions.services.moves import locked

    submission = bring_to(vendor.submit(task_set, vendor.harness()), "running")
    write_results(submission, skip=1)
    lose(submission.held_out_run, 1)  # type: ignore[arg-type]
    date_end(submission)
    move(locked(submission.id), "awaiting_choice", cause=Code.RUNS_LOST, by=BY)
    choose(submission.id, "keep", by=vendor.actor)
    submission.refresh_from_db()
    assert released(submission)
    answer = vendor.api.get(f"submissions/{submission.id}/result").body
    assert answer["complete"] is False
    assert answer["coverage"] < "1.00"
    for row in answer["domains"].values():
        assert row["low"] <= row["value"] <= row["high"]
    assert any(row["low"] < row["high"] for row in answer["domains"].values())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "table",
    [
        "governance_release",
        "governance_domainaggregate",
        "governance_releasepolicy",
        "governance_sealedaggregate",
        "evaluation_taskresult",
        "evaluation_publictaskresult",
    ],
)
def test_what_was_released_is_never_changed(
    connect_as: Callable[[str], psycopg.Connection[Any]], table: str
) -> None:
    task_set = world.task_set()
    services.set_release_policy(task_set, profile="demo", tick_seconds=5, by=BY)
    vendor = world.vendor()
    submission = bring_to(vendor.submit(task_set, vendor.harness()), "running")
    write_results(submission)
    assert released(bring_on(submission))
    for role in ("sealed", "owner"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET id = id", f"TRUNCATE {table} CASCADE"):
            with pytest.raises(psycopg.Error):
                connect_as(role).execute(statement)
