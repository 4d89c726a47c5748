"""A job's identity is exchanged once; whatever is wrong with it has a code of its own and gives nothing away."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.core import mail
from django.db import connections

from accounts.publishing.models import CiGrant, TrustedPublisher, UsedIdentity
from config import clock
from submissions.models import Harness
from tests.access.oidc.arranged import Job
from tests.issuer import Issuer, new_key
from tests.submissions import world

pytestmark = pytest.mark.django_db
line = pytest.mark.acceptance("access:3")


def forged(issuer: Issuer, header: dict[str, Any], sign: Callable[[bytes], bytes], **claims: Any) -> str:
    """A token put together by hand, as no library makes it."""
    parts = [{"typ": "JWT", "kid": issuer.keys[0].kid, **header}, issuer.claims(**claims)]
    text = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    return (text + b"." + base64.urlsafe_b64encode(sign(text)).rstrip(b"=")).decode()


def by_nobody(issuer: Issuer) -> str:
    return forged(issuer, {"alg": "none"}, lambda text: b"")


def by_the_public_key(issuer: Issuer) -> str:
    """HS256, with the published key as the secret: the classic confusion of algorithms."""
    pem = issuer.keys[0].public_pem
    return forged(issuer, {"alg": "HS256"}, lambda text: hmac.new(pem, text, hashlib.sha256).digest())


def by_another_key(issuer: Issuer) -> str:
    thief = new_key()
    thief.kid = issuer.keys[0].kid
    return issuer.mint(key=thief)


def changed_afterwards(issuer: Issuer) -> str:
    header, _, signature = issuer.mint().split(".")
    claims = base64.urlsafe_b64encode(json.dumps(issuer.claims(repository="acme/other")).encode()).rstrip(
        b"="
    )
    return f"{header}.{claims.decode()}.{signature}"


@line
def test_a_job_gets_two_credentials_for_its_identity(
    job: Job, publisher: TrustedPublisher, harness: Harness
) -> None:
    answer = job.exchange()
    assert answer.status == 201
    act, watch = answer.body["act"], answer.body["watch"]
    assert answer.body["publisher"] == str(publisher.id)
    assert (act["harness"], act["harness_name"]) == (str(harness.id), harness.name)
    assert act["token"].startswith("lgb_")
    assert watch["token"].startswith("lgb_")
    grant = CiGrant.objects.get()
    assert timedelta(minutes=14) < grant.act_expires_at - clock.now() <= timedelta(minutes=15)
    stored = json.dumps([str(value) for value in CiGrant.objects.values_list().get()])
    assert act["token"] not in stored
    assert watch["token"] not in stored
    assert "no-store" in answer.headers["Cache-Control"]


CASES: list[tuple[str, Callable[[Issuer], str], str, str]] = [
    ("no token at all", lambda issuer: "rubbish", "oidc_malformed", ""),
    ("three empty parts", lambda issuer: "..", "oidc_malformed", ""),
    (
        "no key named",
        lambda issuer: forged(issuer, {"alg": "RS256", "kid": None}, bytes),
        "oidc_malformed",
        "",
    ),
    ("none", by_nobody, "oidc_algorithm", "none"),
    ("HS256", by_the_public_key, "oidc_algorithm", "HS256"),
    (
        "another issuer",
        lambda issuer: issuer.mint(iss="https://evil.invalid"),
        "oidc_unknown_issuer",
        "https://evil.invalid",
    ),
    ("an unknown key", lambda issuer: issuer.mint(key=new_key()), "oidc_unknown_key", ""),
    ("another key", by_another_key, "oidc_signature", ""),
    ("changed claims", changed_afterwards, "oidc_signature", ""),
    (
        "audience",
        lambda issuer: issuer.mint(aud="https://pypi.invalid"),
        "oidc_audience",
        "https://pypi.invalid",
    ),
    ("two audiences", lambda issuer: issuer.mint(aud=[issuer.audience, "x"]), "oidc_audience", ""),
    ("no audience", lambda issuer: issuer.mint(aud=None), "oidc_claim_missing", ""),
    ("no jti", lambda issuer: issuer.mint(jti=None), "oidc_claim_missing", ""),
    ("no owner id", lambda issuer: issuer.mint(repository_owner_id=None), "oidc_claim_missing", ""),
    ("no expiry", lambda issuer: issuer.mint(exp=None), "oidc_claim_missing", ""),
    ("a year of life", lambda issuer: issuer.mint(exp=2**32), "oidc_claim_missing", ""),
    ("a number for a name", lambda issuer: issuer.mint(repository=7), "oidc_claim_missing", "7"),
    (
        "fork's change",
        lambda issuer: issuer.mint(event_name="pull_request_target"),
        "oidc_event",
        "pull_request_target",
    ),
    (
        "another repository",
        lambda issuer: issuer.mint(repository="acme/other"),
        "oidc_no_publisher",
        "acme/other",
    ),
    ("renamed owner", lambda issuer: issuer.mint(repository_owner_id="99"), "oidc_mismatch", "99"),
    (
        "another workflow",
        lambda issuer: issuer.mint(job_workflow_ref="acme/harness/.github/workflows/x.yml@refs/heads/main"),
        "oidc_mismatch",
        "x.yml",
    ),
    (
        "a workflow of others",
        lambda issuer: issuer.mint(
            job_workflow_ref="evil/harness/.github/workflows/submit.yml@refs/heads/main"
        ),
        "oidc_mismatch",
        "evil/harness",
    ),
]


@line
@pytest.mark.case("G37")
@pytest.mark.parametrize(
    ("make", "code", "received"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_each_thing_that_is_wrong_has_its_code(
    job: Job, make: Callable[[Issuer], str], code: str, received: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        token = make(job.issuer)
        answer = job.exchange(token)
    assert (answer.code, answer.status // 100) == (code, 4)
    assert received in str(answer.body.get("received", ""))
    assert not CiGrant.objects.exists()
    assert not UsedIdentity.objects.exists()
    for part in [part for part in token.split(".") if len(part) > 20]:
        assert part not in json.dumps(answer.body)
        assert part not in caplog.text
        assert not any(part in message.body for message in mail.outbox)


@line
@pytest.mark.case("G37")
def test_the_first_field_that_differs_is_named(job: Job) -> None:
    answer = job.exchange(repository_owner_id="99", job_workflow_ref="acme/harness/other.yml@refs/heads/main")
    assert (answer.code, answer.body["field"], answer.body["received"]) == (
        *("oidc_mismatch", "repository_owner_id", "99"),
    )
    assert "repository_owner_id" in answer.body["detail"]


@line
def test_times_are_those_of_the_site(job: Job) -> None:
    token = job.issuer.mint()
    with clock.shifted(timedelta(minutes=5, seconds=20)):
        assert job.check(iat=int(clock.now().timestamp()) - 5).status == 200
    with clock.shifted(timedelta(minutes=6)):
        assert job.exchange(token).code == "oidc_expired"
    later = int(clock.now().timestamp()) + 120
    assert job.exchange(nbf=later).code == "oidc_not_yet"
    assert job.exchange(iat=later, exp=later + 60).code == "oidc_not_yet"
    assert job.exchange(token).status == 201


@line
def test_a_token_is_good_for_one_exchange(job: Job) -> None:
    token = job.issuer.mint()
    assert job.exchange(token).status == 201
    again = job.exchange(token)
    assert (again.status, again.code) == (401, "oidc_replayed")
    assert CiGrant.objects.count() == 1
    body = world.Api("").post("oidc/check", {"token": token})
    assert body.code == "oidc_replayed"


def test_a_used_token_is_remembered_past_its_end_and_then_forgotten(job: Job) -> None:
    token = job.issuer.mint()
    job.exchange(token)
    with clock.shifted(timedelta(hours=20)):
        assert job.exchange().status == 201
        assert UsedIdentity.objects.count() == 2
    with clock.shifted(timedelta(days=2)):
        assert job.exchange().status == 201
        assert UsedIdentity.objects.count() == 1


@line
@pytest.mark.django_db(transaction=True)
def test_of_the_same_token_twice_at_once_one_is_exchanged(job: Job) -> None:
    for _ in range(5):
        token, both = job.issuer.mint(), Barrier(4)

        def send(token: str = token, both: Barrier = both) -> str:
            both.wait()
            try:
                answer = job.exchange(token)
                return answer.code or str(answer.status)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(4) as pool:
            codes = sorted(found.result() for found in [pool.submit(send) for _ in range(4)])
        assert codes == ["201", "oidc_replayed", "oidc_replayed", "oidc_replayed"]
