"""Keys of issuers: by discovery, from the closed list only, asked again once a minute at most."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import redis
from django.core.cache import cache

from accounts.publishing import keys
from tests.access.oidc.arranged import Job
from tests.issuer import DISCOVERY, Issuer, new_key

pytestmark = pytest.mark.django_db
line = pytest.mark.acceptance("access:3")


@line
def test_unknown_keys_are_asked_for_once_a_minute_at_most(job: Job) -> None:
    assert job.check().status == 200
    assert job.issuer.asked == {DISCOVERY: 1, "/jwks": 1}
    cache.delete(keys.refresh_lock(job.issuer.address))  # a minute later
    for _ in range(5):
        assert job.exchange(job.issuer.mint(key=new_key())).code == "oidc_unknown_key"
    assert job.issuer.asked["/jwks"] == 2
    job.issuer.rotate()
    assert job.exchange().code == "oidc_unknown_key"
    cache.delete(keys.refresh_lock(job.issuer.address))
    assert job.exchange().status == 201
    assert job.issuer.asked["/jwks"] == 3


def test_the_minute_is_a_minute(job: Job) -> None:
    job.check()
    left = cache._cache.get_client().ttl(cache.make_key(keys.refresh_lock(job.issuer.address)))
    assert 50 < left <= 60


def test_no_request_is_made_for_an_issuer_that_nobody_trusts(issuer: Issuer, settings: Any) -> None:
    settings.OIDC_ISSUERS = {"https://gitlab.com": "gitlab"}
    answer = Job(issuer).exchange()
    assert answer.code == "oidc_unknown_issuer"
    assert not issuer.asked


@pytest.mark.parametrize(
    "other",
    [
        (302, {"Location": "http://127.0.0.1:1/"}, b""),
        (200, {}, b"x" * (300 * 1024)),
        (200, {}, b'{"issuer": "https://evil.invalid", "jwks_uri": "https://evil.invalid/jwks"}'),
        (200, {}, b"[" * 5000),
        (500, {}, b""),
    ],
    ids=["redirect", "too long", "of another", "nested", "broken"],
)
def test_what_is_no_discovery_document_is_not_followed(
    job: Job, other: tuple[int, dict[str, str], bytes]
) -> None:
    job.issuer.answers[DISCOVERY] = other
    answer = job.exchange()
    assert (answer.status, answer.code, answer.headers["Retry-After"]) == (
        503,
        "oidc_issuer_unavailable",
        "60",
    )
    assert not job.issuer.asked["/jwks"]


def test_an_issuer_that_is_down_is_asked_once_and_nobody_waits_for_it(job: Job) -> None:
    job.issuer.answers[DISCOVERY] = (500, {}, b"")
    began = time.monotonic()
    assert {job.exchange().code for _ in range(6)} == {"oidc_issuer_unavailable"}
    assert time.monotonic() - began < 3 * keys.PATIENCE_SECONDS
    assert job.issuer.asked == {DISCOVERY: 1}
    job.issuer.answers.clear()
    cache.clear()
    assert job.exchange().status == 201


def test_without_redis_the_answer_is_that_it_cannot_be_told_now(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise redis.ConnectionError

    monkeypatch.setattr(keys.cache, "get", gone)
    answer = job.exchange()
    assert (answer.status, answer.code) == (503, "oidc_issuer_unavailable")


def test_keys_at_another_host_and_keys_that_are_too_small_are_not_used(job: Job) -> None:
    elsewhere = json.dumps({"issuer": job.issuer.address, "jwks_uri": "http://127.0.0.1:1/jwks"}).encode()
    job.issuer.answers[DISCOVERY] = (200, {}, elsewhere)
    assert job.exchange().code == "oidc_issuer_unavailable"
    del job.issuer.answers[DISCOVERY]
    cache.clear()
    small = new_key(1024)
    job.issuer.answers["/jwks"] = (
        200,
        {},
        json.dumps({"keys": [small.jwk(), *job.issuer.jwks()["keys"]]}).encode(),
    )
    assert job.exchange(job.issuer.mint(key=small)).code == "oidc_unknown_key"
    assert job.exchange().status == 201
