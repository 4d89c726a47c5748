"""A job may no more than who registered its publisher; and the log tells who got credentials, and no secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from accounts import services as accounts
from accounts.models import Membership
from accounts.publishing import services
from accounts.publishing.models import CiGrant, TrustedPublisher
from audit import live, replay
from submissions.models import Harness
from tests.access.oidc.arranged import Job, registered
from tests.factories import recorded
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db
TABLES = {"accounts_trustedpublisher", "accounts_cigrant", "accounts_reviewedissuer"}


def _gone(vendor: world.Vendor) -> None:
    row = Membership.objects.get(user=vendor.user)
    with recorded(row):
        row.delete()


def _suspended(vendor: world.Vendor) -> None:
    accounts.suspend_user(vendor.user, by=world.BY)


def _organisation_suspended(vendor: world.Vendor) -> None:
    accounts.suspend_organisation(vendor.organisation, by=world.BY)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (_suspended, "publisher_suspended"),
        (_organisation_suspended, "organisation_suspended"),
    ],
)
def test_whoever_may_act_no_more_has_no_job_that_may(
    vendor: world.Vendor, job: Job, end: Callable[[world.Vendor], None], code: str
) -> None:
    act = world.Api(job.exchange().body["act"]["token"])
    assert act.get("harnesses").status == 200
    end(vendor)
    assert act.get("harnesses").code == code
    assert job.exchange().code == code


def test_who_has_left_has_no_job_that_may(vendor: world.Vendor, harness: Harness, job: Job) -> None:
    second = world.colleague(vendor)
    registered(second, harness, job.issuer.address, workflow="other.yml")
    claims = {"job_workflow_ref": "acme/harness/.github/workflows/other.yml@refs/heads/main"}
    act = world.Api(job.exchange(**claims).body["act"]["token"])
    assert act.get("harnesses").status == 200
    _gone(second)
    assert act.get("harnesses").code == "publisher_orphaned"
    assert job.exchange(**claims).code == "publisher_orphaned"
    assert job.exchange().status == 201


def test_of_two_publishers_that_match_the_one_of_who_may_act_counts(
    vendor: world.Vendor, harness: Harness, job: Job
) -> None:
    second = world.colleague(vendor)
    other = registered(second, harness, job.issuer.address, ref="main")
    accounts.suspend_user(vendor.user, by=world.BY)
    assert job.exchange().body["publisher"] == str(other.id)


@pytest.mark.django_db(transaction=True)
def test_the_log_has_the_exchange_and_neither_token_nor_repository(
    job: Job, publisher: TrustedPublisher, connect_as: Callable[[str], psycopg.Connection[Any]]
) -> None:
    token = job.issuer.mint()
    answer = job.exchange(token).body
    secrets = [answer[name]["token"] for name in ("act", "watch")]
    rows = connect_as("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    bodies = [json.loads(body) for (body,) in rows]
    given = next(body for body in bodies if body["kind"] == "ci.exchanged")
    grant = CiGrant.objects.get()
    assert given["actor"] == {
        "channel": "api",
        "id": str(grant.id),
        "kind": "ci",
        "organisation": str(publisher.organisation_id),
    }
    assert given["data"]["publisher"] == str(publisher.id)
    everything = json.dumps(bodies)
    for text in (*token.split("."), *secrets, publisher.repository, publisher.workflow):
        assert text not in everything


@pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
def test_events_explain_every_row(
    job: Job,
    publisher: TrustedPublisher,
    vendor: world.Vendor,
    harness: Harness,
    sequence: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = [row for row in replay.ledgers() if row.table in TABLES]
    assert len(mine) == len(TABLES)
    monkeypatch.setattr(live, "ledgers", lambda: mine)
    act = world.Api(job.exchange().body["act"]["token"])
    order = world.body_of(vendor.order(site.task_set(), harness))
    assert act.post("submissions", order).status == 202
    services.remove(publisher, person=vendor.user, by=vendor.actor)
    sequence()
    report = live.check()
    assert report.ok, report.findings
    assert CiGrant.objects.get().submission_id is not None
