"""`lgbench upstream`: what is there, and one small call, made by a worker against a server that speaks the dialect."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from audit.events import system
from evaluation.upstreams import services as workers
from evaluation.upstreams.models import Dialect, Outcome, UpstreamTrial
from submissions import tickets
from submissions.services import upstreams
from tests.access.upstreams.arranged import SECRET, registered, serving, upstream_with_credential
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
WORKER = system("upstream-trial")


@pytest.fixture
def endpoint(settings: Any) -> Iterator[Any]:
    settings.OUTGOING_LOOPBACK = True
    with serving() as script:
        script.answers(Dialect.OPENAI_CHAT)
        yield script


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[uuid.UUID], object]]:
    """What a worker does with each trial that waits, once the client has begun to wait for it; nothing if empty."""
    does: list[Callable[[uuid.UUID], object]] = []
    monkeypatch.setattr(tickets, "_send", lambda name, arguments, queue: None)

    def rest(seconds: float) -> None:
        for trial in UpstreamTrial.objects.filter(ended_at=None):
            for act in does:
                act(trial.id)

    monkeypatch.setattr("client.remote.http.rest", rest)
    return does


def finds(outcome: Outcome) -> Callable[[uuid.UUID], object]:
    return lambda trial: workers.end_trial(trial, workers.probe.Found(outcome), by=WORKER)


def test_a_real_call_by_name(lg, online, endpoint, worker):
    row = upstream_with_credential(online, base_url=endpoint.url)
    worker.append(lambda trial: workers.make_trial(trial, by=WORKER))
    said = lg("upstream", "test", "my-model", "--json")
    assert (said.code, said.json["trial"]["outcome"]) == (0, "ok"), said.everything
    assert said.json["id"] == str(row.id)
    assert len(endpoint.asked) == 1
    assert SECRET not in said.everything
    assert SECRET[:-4] not in lg("upstream", "list", "--json").everything


@pytest.mark.parametrize(
    ("outcome", "code"),
    [(outcome, {"ok": 0, "not_tried": 5}.get(outcome, 4)) for outcome in Outcome.values],
)
def test_every_outcome_has_its_exit_code(lg, online, worker, outcome, code):
    upstream_with_credential(online)
    worker.append(finds(Outcome(outcome)))
    said = lg("upstream", "test", "my-model")
    assert (said.code, said.out.split(": ")[:2]) == (code, ["my-model", outcome])


def test_it_is_told_in_chinese_too(lg, online, worker):
    upstream_with_credential(online)
    worker.append(finds(Outcome.CREDENTIAL_REFUSED))
    said = lg("upstream", "test", "my-model", "--lang", "zh")
    assert said.code == 4
    assert "凭据" in said.out
    assert "末四位" in lg("upstream", "list", "--lang", "zh").out


def test_time_is_up(lg, online, worker):
    row = upstream_with_credential(online)
    said = lg("upstream", "test", str(row.id), "--timeout", "0")
    assert (said.code, "under way" in said.out) == (6, True)
    again = lg("upstream", "test", "my-model", "--timeout", "0")
    assert (again.code, "upstream_trial_too_soon" in again.err) == (3, True)
    assert "Possible again at " in again.err


def test_what_is_refused(lg, online, worker):
    registered(online)
    said = lg("upstream", "test", "my-model")
    assert (said.code, "upstream_no_credential" in said.err) == (3, True)
    reader = world.vendor(scopes=["read"])
    upstream_with_credential(reader)
    said = lg("upstream", "test", "my-model", "--token", reader.api.secret)
    assert (said.code, UpstreamTrial.objects.count()) == (3, 0), said.everything
    assert lg("upstream", "list", "--token", reader.api.secret).code == 0
    said = lg("upstream", "test", "nonsense")
    assert (said.code, "no_upstream" in said.err, "my-model" in said.err) == (2, True, True)


def test_the_list(lg, online, live_server):
    assert f"{live_server.url}/en/v/upstreams/new/" in lg("upstream", "list").out
    row = registered(online)
    other = world.vendor()
    registered(other, name="anothers")
    page = f"{live_server.url}/en/v/upstreams/{row.id}/"
    assert site.signed_in(online.user).get(page).status_code == 200
    said = lg("upstream", "list")
    assert f"no credential; set it at {page}" in said.out
    assert "anothers" not in said.out
    upstreams.set_credential(row.id, SECRET, by=online.actor)
    assert f"credential …{SECRET[-4:]}" in lg("upstream", "list").out
    upstreams.retire_upstream(row.id, by=online.actor)
    fresh = registered(online)
    rows = {found["id"]: found["state"] for found in lg("upstream", "list", "--json").json["upstreams"]}
    assert rows == {str(row.id): "retired", str(fresh.id): "active"}
