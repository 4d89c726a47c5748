"""A CI job from its identity to its result: real HTTP to the site, the issuer and the store, and no stored secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from benchmark.models import TaskSetVersion
from config import clock
from config.site.ci_job import Job, JobFailed, bundle
from submissions.models import Harness, Submission
from tests.access.oidc.arranged import registered
from tests.issuer import Issuer
from tests.live.fleet import HARNESSES
from tests.pages import site
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("access:3")]
FOLDER = HARNESSES / "rule-script"
FORTY_MINUTES = timedelta(minutes=40)


@pytest.fixture
def task_set(transactional_db: None) -> TaskSetVersion:
    return site.task_set()


@pytest.fixture
def harness(vendor: world.Vendor, issuer: Issuer) -> Harness:
    found = vendor.harness("rule-script")
    registered(vendor, found, issuer.address)
    return found


def identity(issuer: Issuer, **claims: Any) -> str:
    """As the runner asks its service for one."""
    answer = httpx.post(f"{issuer.address}/mint", json={"claims": claims})
    return str(answer.json()["value"])


def exchange(address: str, token: str, harness: Harness) -> httpx.Response:
    return httpx.post(f"{address}/api/v1/oidc/exchange", json={"token": token, "harness": str(harness.id)})


def submit(act: Job, harness: Harness, task_set: TaskSetVersion) -> str:
    card = json.loads((FOLDER / "card.json").read_text())
    version = act.post(f"harnesses/{harness.id}/versions", {"version": "0.3.1", "card": card})["id"]
    upload = act.upload(version, bundle(FOLDER, "0.3.1"))
    return str(act.submit(version, upload, task_set.label)["id"])


def test_a_run_of_forty_minutes_outlives_the_credential_that_made_it(
    live_server: Any,
    issuer: Issuer,
    harness: Harness,
    task_set: TaskSetVersion,
    sequence: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = identity(issuer)
    given = exchange(live_server.url, token, harness)
    assert given.status_code == 201
    act, watch = (Job(live_server.url, given.json()[name]["token"]) for name in ("act", "watch"))
    with pytest.raises(JobFailed, match="watch_unbound"):
        watch.ask("GET", "submissions/01900000-0000-7000-8000-000000000000")
    submission = submit(act, harness, task_set)
    assert watch.ask("GET", f"submissions/{submission}")["state"] == "created"
    sequence()

    now = clock.now
    monkeypatch.setattr(clock, "now", lambda: now() + FORTY_MINUTES)
    done = site.moved(Submission.objects.get(pk=submission), *site.TO_COMPLETE)
    site.preflight_result(done)
    site.release(done)
    sequence()
    with pytest.raises(JobFailed, match="ci_expired"):
        act.ask("GET", f"submissions/{submission}")
    assert watch.follow(submission, lambda state, progress: None)["state"] == "complete"
    assert set(watch.result(submission)["domains"]) >= {"general", "finance"}
    for part in ("preflight", "receipt"):
        assert watch.ask("GET", f"submissions/{submission}/{part}")
    with pytest.raises(JobFailed, match="credential_not_permitted"):
        watch.post(f"submissions/{submission}/cancel", {})


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"repository": "acme/other"}, "oidc_no_publisher"),
        ({"repository_owner_id": "99"}, "oidc_mismatch"),
        ({"iat": 1, "nbf": 1, "exp": 2}, "oidc_expired"),
        ({"aud": "https://elsewhere.invalid"}, "oidc_audience"),
        ({"event_name": "pull_request_target"}, "oidc_event"),
    ],
)
def test_what_is_not_the_registered_job_gets_nothing(
    live_server: Any, issuer: Issuer, harness: Harness, claims: dict[str, Any], code: str
) -> None:
    answer = exchange(live_server.url, identity(issuer, **claims), harness)
    assert (answer.headers["content-type"], answer.json()["code"]) == ("application/problem+json", code)
    assert answer.status_code in (401, 403)


def test_the_same_identity_is_exchanged_once(live_server: Any, issuer: Issuer, harness: Harness) -> None:
    token = identity(issuer)
    codes = [exchange(live_server.url, token, harness).status_code for _ in range(3)]
    assert codes == [201, 401, 401]
