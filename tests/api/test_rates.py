"""Requests a minute: told on every answer, refused beyond, allowed again after the time that was named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from config import clock
from submissions.api import rates
from submissions.models import Harness
from tests.pages.site import signed_in
from tests.submissions import world
from tests.submissions.world import Answer, Api, Vendor

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 12, 3, 12, 0, 20, tzinfo=UTC)
NAMES = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture(autouse=True)
def _limits(settings: Any) -> None:
    settings.API_RATES = {"reads": 5, "writes": 3, "anonymous": 4}


def told(answer: Answer) -> list[int]:
    return [int(answer.headers[name]) for name in NAMES]


@pytest.mark.acceptance("access:1")
@pytest.mark.case("G41")
def test_waiting_as_long_as_the_refusal_says_is_enough(vendor: Vendor) -> None:
    with clock.frozen(NOON):
        assert [told(vendor.api.get("quota")) for _ in range(5)] == [
            [5, left, 40] for left in (4, 3, 2, 1, 0)
        ]
        refused = vendor.api.get("quota")
        assert (refused.status, refused.code) == (429, "too_many_requests")
        assert (refused.body["policy"], refused.body["limit"], refused.body["used"]) == ("reads", 5, 6)
        assert refused.body["next_allowed_at"] == "2026-12-03T12:01:00+00:00"
        assert told(refused) == [5, 0, 40]
    wait = int(refused.headers["Retry-After"])
    assert wait == 40
    with clock.frozen(NOON + timedelta(seconds=wait - 1)):
        assert vendor.api.get("quota").status == 429
    with clock.frozen(NOON + timedelta(seconds=wait)):
        assert vendor.api.get("quota").status == 200
    with clock.frozen(NOON.replace(second=59, microsecond=999_000)):
        late = vendor.api.get("quota")
        assert (late.status, late.headers["Retry-After"]) == (429, "1")


@pytest.mark.acceptance("access:1")
@pytest.mark.case("G41")
def test_every_answer_says_where_the_caller_stands(vendor: Vendor, harness: Harness, settings: Any) -> None:
    settings.API_RATES = {"reads": 99, "writes": 99, "anonymous": 99}
    answers = {
        "made": vendor.api.post("harnesses", {"name": "other-one"}),
        "found": vendor.api.get(f"harnesses/{harness.id}"),
        "not found": vendor.api.get("harnesses/00000000-0000-7000-8000-000000000000"),
        "nowhere": vendor.api.get("no/such/address"),
        "not json": vendor.api.post("harnesses", b"{"),
        "wrong method": vendor.api.call("DELETE", "quota"),
        "wrong media type": vendor.api.post("harnesses", b"a=b", content_type="text/plain"),
        "no credential": Api("").get("quota"),
        "wrong credential": Api("lgb_nothing").get("quota"),
        "public": Api("").get("task-sets"),
        "health": Api("").get("health"),
        "description": Api("").get("openapi.json"),
        "nul": Api("").get("problems/%00"),
    }
    statuses = {name: answer.status for name, answer in answers.items()}
    assert list(statuses.values()) == [201, 200, 404, 404, 400, 405, 415, 401, 401, 200, 200, 200, 404], (
        statuses
    )
    for name, answer in answers.items():
        limit, remaining, reset = told(answer)
        assert limit == 99, name
        assert remaining < 99, name
        assert 1 <= reset <= 60, name
    unchanged = vendor.api.get(
        f"harnesses/{harness.id}", headers={"if-none-match": answers["found"].headers["ETag"]}
    )
    assert (unchanged.status, told(unchanged)[0]) == (304, 99)


def test_reads_writes_credentials_and_addresses_are_counted_apart(vendor: Vendor) -> None:
    mate = world.colleague(vendor)
    with clock.frozen(NOON):
        assert told(vendor.api.get("quota"))[:2] == [5, 4]
        assert told(vendor.api.post("harnesses", b"{"))[:2] == [3, 2]
        assert told(mate.api.get("quota"))[:2] == [5, 4]
        browser = signed_in(vendor.user)
        assert browser.get("/api/v1/quota")["RateLimit-Remaining"] == "4"
        assert told(Api("").get("task-sets"))[:2] == [4, 3]
        elsewhere = Client().get("/api/v1/task-sets", REMOTE_ADDR="203.0.113.9")
        assert elsewhere["RateLimit-Remaining"] == "3"


def test_guessed_tokens_use_up_the_address_s_requests_and_nobody_else_s(vendor: Vendor) -> None:
    with clock.frozen(NOON):
        codes = [Api(f"lgb_{number:064d}").get("quota").code for number in range(6)]
        assert codes == ["token_invalid"] * 4 + ["too_many_requests"] * 2
        assert Api("").get("task-sets").status == 429
        assert vendor.api.get("quota").status == 200


def test_an_address_is_the_one_that_the_trusted_proxy_saw(settings: Any) -> None:
    """Whatever the client puts in front of it counts for nothing."""
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    with clock.frozen(NOON):
        for number in range(4):
            forwarded = {"x-forwarded-for": f"198.51.100.{number}, 203.0.113.9"}
            assert Client().get("/api/v1/task-sets", headers=forwarded).status_code == 200
        assert Client().get("/api/v1/task-sets", headers=forwarded).status_code == 429
        other = {"x-forwarded-for": "203.0.113.9, 203.0.113.10"}
        assert Client().get("/api/v1/task-sets", headers=other).status_code == 200


def test_a_refused_request_costs_the_database_nothing_but_the_look_at_its_token(
    vendor: Vendor, django_assert_max_num_queries: Any
) -> None:
    with clock.frozen(NOON):
        for _ in range(5):
            vendor.api.get("quota")
        with django_assert_max_num_queries(6, connection=connection):
            assert vendor.api.get("quota").status == 429


def test_without_redis_nobody_is_refused(
    vendor: Vendor, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "_redis", rates._Counters())
    settings.REDIS_URL = "unix:///nonexistent/redis"
    with clock.frozen(NOON):
        answers = [vendor.api.get("quota") for _ in range(8)]
    assert {answer.status for answer in answers} == {200}
    assert told(answers[-1]) == [5, 5, 40]


def test_with_a_limit_of_nothing_there_is_none(vendor: Vendor, settings: Any) -> None:
    settings.API_RATES = {"reads": 0, "writes": 0, "anonymous": 0}
    answers = [vendor.api.get("quota") for _ in range(8)]
    assert {answer.status for answer in answers} == {200}
    assert "RateLimit-Limit" not in answers[0].headers
