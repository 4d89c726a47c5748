"""A harness in the real sandbox asks a model through the gateway: what is counted, refused, repeated, never seen."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from audit.events import system
from evaluation import packages
from evaluation.artefacts import unbundle
from evaluation.calls import queries, services, serving
from evaluation.calls.models import ModelCall, UpstreamDoubt, UpstreamStop, UpstreamUse
from evaluation.calls.services import ModelNeed
from evaluation.executing import Executor
from evaluation.grading import Grader
from evaluation.holding import Holding
from evaluation.models import Attempt, Episode, EvaluationRun, TaskResult
from evaluation.sandbox.backends import default_backend
from evaluation.services import settle_run
from evaluation.upstreams.models import ModelUpstream
from submissions.services import upstreams
from tests.access.upstreams.arranged import SECRET, SNAPSHOT, Answers, upstream_with_credential
from tests.access.upstreams.arranged import serving as scripted
from tests.live.fleet import Fleet
from tests.submissions import world

pytestmark = [pytest.mark.serial, pytest.mark.timeout(300)]
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60}}


@pytest.fixture
def answers(settings: Any) -> Iterator[Answers]:
    settings.OUTGOING_LOOPBACK = True
    with scripted() as script:
        says(script, usage=USAGE)
        yield script


def says(script: Answers, **more: object) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "FORTY-TWO"}}
    answer = {"id": "x", "object": "chat.completion", "created": 1, "model": SNAPSHOT, "choices": [choice]}
    script.body = json.dumps({**answer, **more}).encode()
    script.headers = {"Content-Type": "application/json"}


@pytest.fixture
def upstream(imported: Any, answers: Answers) -> ModelUpstream:
    vendor = world.vendor()
    row = upstream_with_credential(vendor, base_url=answers.url)
    prices = {"input_price": Decimal(3), "cached_price": Decimal("0.3"), "output_price": Decimal(15)}
    return upstreams.change_upstream(row.pk, changes=prices, by=vendor.actor)


def asking(imported: Any, upstream: ModelUpstream, *arguments: str, declared: Any = None) -> EvaluationRun:
    """A held-out run cut down to one episode, of the harness that asks."""
    serving.calls_models.cache_clear()
    serving.gate.cache_clear()
    run = Fleet(None, None, imported, "").submit(  # type: ignore[arg-type]
        "asks",
        command=("python3", "/harness/run.py", *arguments),
        models=[ModelNeed("main", upstream.pk, "third_party", declared or {"temperature": 0.5})],
    )
    keep = Episode.objects.filter(run=run).order_by("position").values_list("pk", flat=True)[0]
    Episode.objects.filter(run=run).exclude(pk=keep).update(state=Episode.State.CANCELLED)
    return run


def attempted(run: EvaluationRun, place: Path) -> Attempt:
    assert Executor("w", place, default_backend()).run_one(Holding())
    found = Attempt.objects.filter(episode__run=run).order_by("-number").first()
    assert found is not None
    return found


def left(run: EvaluationRun, attempt: Attempt) -> Any:
    return unbundle(packages.load_artefacts(run.package, attempt.artefact_key))


def test_each_call_is_counted_and_no_credential_comes_near_a_sandbox(
    imported: Any, upstream: ModelUpstream, answers: Answers, tmp_path: Path
) -> None:
    run = asking(imported, upstream, "3")
    attempt = attempted(run, tmp_path)
    found = left(run, attempt)
    assert (found.reply, attempt.ending) == (b"FORTY-TWO", "finished"), found.stderr
    assert (attempt.steps, attempt.tokens, attempt.tokens_complete) == (3, 360, True)
    rows = list(ModelCall.objects.filter(attempt=attempt).order_by("step"))
    assert [(row.step, row.input_tokens, row.cached_tokens, row.output_tokens) for row in rows] == [
        (number, 100, 60, 20) for number in (1, 2, 3)
    ]
    assert {row.outcome for row in rows} == {"ok"}
    # 40 new at 3, 60 cached at 0.3, 20 made at 15, of a million each
    assert {row.cost for row in rows} == {Decimal("0.000438")}
    assert UpstreamUse.objects.get(pk=upstream.pk).spent == Decimal("0.001314")
    assert answers.asked[-1]["headers"]["Authorization"] == f"Bearer {SECRET}"
    assert answers.asked[-1]["body"]["model"] == SNAPSHOT
    assert SECRET.encode() not in found.stdout + found.stderr
    Grader("g", tmp_path, default_backend(), "1").grade_one(Holding())
    assert TaskResult.objects.get(episode__run=run).tokens == 360
    (seen,) = queries.observed(run)
    assert queries.served_otherwise(run) == []
    assert [(one.snapshot, one.exposure) for one in queries.shown_models(run)] == [(SNAPSHOT, "third_party")]
    assert (seen.served, seen.parameters["temperature"], seen.calls) == ((SNAPSHOT,), (0.5,), 3)


def test_another_model_that_answers_is_on_record_for_staff(
    imported: Any, upstream: ModelUpstream, answers: Answers, tmp_path: Path
) -> None:
    says(answers, usage=USAGE, model="cheaper-model")
    run = asking(imported, upstream, "1")
    attempted(run, tmp_path)
    Grader("g", tmp_path, default_backend(), "1").grade_one(Holding())
    settle_run(run.pk)
    run.refresh_from_db()
    assert run.served_otherwise == ["main"]
    assert "different" not in repr(queries.shown_models(run))


def test_a_count_that_nobody_reported_is_not_zero(
    imported: Any, upstream: ModelUpstream, answers: Answers, tmp_path: Path
) -> None:
    says(answers)
    attempt = attempted(asking(imported, upstream, "1"), tmp_path)
    assert (attempt.steps, attempt.tokens, attempt.tokens_complete) == (1, None, False)


def test_a_model_that_is_not_listed_is_refused_and_on_record(
    imported: Any, upstream: ModelUpstream, answers: Answers, tmp_path: Path, connect_as: Any
) -> None:
    run = asking(imported, upstream, "1", "another-model")
    attempt = attempted(run, tmp_path)
    assert b"403" in left(run, attempt).stdout
    assert (attempt.steps, attempt.asked_unlisted, attempt.refused_calls) == (0, True, 1)
    assert not answers.asked
    assert queries.refused_models(run) == 1
    body = b"".join(
        bytes(row[0]) for row in connect_as("auditor").execute("SELECT body FROM audit_event").fetchall()
    )
    assert b"model.refused" in body
    assert b"another-model" not in body


def test_what_the_card_declares_is_what_is_sent(
    imported: Any, upstream: ModelUpstream, answers: Answers, tmp_path: Path
) -> None:
    run = asking(imported, upstream, "1", declared={"temperature": 0.25, "top_p": 0.9})
    attempt = attempted(run, tmp_path)
    assert b"400" in left(run, attempt).stdout
    assert not answers.asked, "it sends a temperature of 0.5"
    attempt = attempted(asking(imported, upstream, "1", declared={"top_p": 0.9}), tmp_path / "b")
    assert (attempt.steps, answers.asked[-1]["body"]["top_p"]) == (1, 0.9)


def test_a_budget_of_steps_ends_with_its_name(imported: Any, upstream: ModelUpstream, tmp_path: Path) -> None:
    run = asking(imported, upstream, "1000")
    attempt = attempted(run, tmp_path)
    assert (attempt.ending, attempt.cause) == ("budget_exhausted", "steps")
    task = run.episodes.get(tries=attempt).task
    assert attempt.steps == task.budget_steps


def test_an_outage_costs_no_attempt_and_the_episode_comes_again(
    imported: Any, upstream: ModelUpstream, answers: Answers, tmp_path: Path
) -> None:
    answers.status = 503
    run = asking(imported, upstream, "1")
    prober = threading.Thread(target=_probe_when_asked, daemon=True)
    prober.start()
    attempt = attempted(run, tmp_path)
    prober.join(60)
    assert (attempt.ending, attempt.cause) == ("infrastructure_fault", "upstream_stopped")
    episode = Episode.objects.get(run=run, state=Episode.State.READY)
    assert episode.attempts == 0
    assert not Executor("w", tmp_path / "b", default_backend()).run_one(Holding()), (
        "nothing of it is claimed meanwhile"
    )
    answers.status = 200
    services.go_on(UpstreamStop.objects.get(ended_at=None), by=system("test"))
    serving.gate.cache_clear()
    again = attempted(run, tmp_path / "c")
    assert (again.ending, again.number) == ("finished", 2)


def _probe_when_asked() -> None:
    """What the governance worker does with the ticket of a doubt."""
    until = time.monotonic() + 60
    while time.monotonic() < until and not UpstreamDoubt.objects.exists():
        time.sleep(0.1)
    for row in UpstreamDoubt.objects.all():
        services.settle_doubt(row.upstream_id, by=system("test"))
    connection.close()
