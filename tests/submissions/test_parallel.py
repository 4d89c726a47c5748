"""Parallel submissions through two server processes under the site's own database role, web and API mixed."""

from __future__ import annotations

import itertools
import re
import secrets
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest
from django.test import Client

from benchmark.models import TaskSetVersion
from submissions.models import Harness, HarnessVersion, Slot, Upload
from tests.pages import site
from tests.submissions import world
from tests.submissions.world import Vendor

TOGETHER = 20
LIMIT = 3
WIDE = {"line": 20, "lineage": 20, "account": 20, "in_flight": 20, "preflight": 20, "cooldown_seconds": 0}
LIMITED = {"line": "quota_line", "lineage": "quota_lineage", "account": "quota_account"}


@dataclass
class Member:
    """A person with a browser session and a token, and the versions that are theirs to submit."""

    vendor: Vendor
    cookies: dict[str, str]

    @classmethod
    def of(cls, vendor: Vendor) -> Member:
        client = Client()
        site.sign_in(client, vendor.user)
        token = secrets.token_hex(16)
        return cls(vendor, {"sessionid": client.cookies["sessionid"].value, "csrftoken": token})

    def by_web(self, client: httpx.Client, base: str, upload: Upload, task_set: TaskSetVersion) -> str:
        """The confirm form; returns what was said: `admitted`, or the code of the problem box."""
        answer = client.post(
            f"{base}/en/v/uploads/{upload.id}/confirm/",
            data={
                "csrfmiddlewaretoken": self.cookies["csrftoken"],
                "key": f"web-{uuid.uuid4()}",
                "task_set": task_set.label,
            },
            headers={"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())},
            timeout=60,
        )
        if answer.status_code == 302:
            assert "/v/submissions/" in answer.headers["location"], answer.headers["location"]
            return "admitted"
        assert answer.status_code == 429, answer.text[:2000]
        return next(code for code in LIMITED.values() if re.search(rf"\b{code}\b", answer.text))

    def by_api(self, client: httpx.Client, base: str, upload: Upload, task_set: TaskSetVersion) -> str:
        answer = client.post(
            f"{base}/api/v1/submissions",
            json={
                "harness_version": str(upload.harness_version_id),
                "task_set": task_set.label,
                "upload": str(upload.id),
            },
            headers={
                "authorization": f"Bearer {self.vendor.api.secret}",
                "idempotency-key": uuid.uuid4().hex,
            },
            timeout=60,
        )
        if answer.status_code == 202:
            return "admitted"
        body = answer.json()
        assert answer.status_code == 429, body
        assert body["next_allowed_at"] is None
        assert body["next_allowed_reason"] == "next_task_set_version"
        assert (body["used"], body["limit"]) == (LIMIT, LIMIT)
        return str(body["code"])


@dataclass
class Contest:
    """Who meets at one counter: its submissions come from several lines and persons, unless it is theirs."""

    members: list[Member]
    lines: list[Harness]
    versions: list[HarnessVersion]
    uploads: dict[uuid.UUID, Upload]

    @classmethod
    def at(cls, counter: str) -> Contest:
        first = world.vendor()
        people = [first] if counter == "account" else [first, world.colleague(first)]
        lines = [first.harness("one")] + ([] if counter == "line" else [first.harness("two")])
        versions = [
            first.version(line) for line, _ in zip(itertools.cycle(lines), range(TOGETHER), strict=False)
        ]
        return cls([Member.of(person) for person in people], lines, versions, {})

    def refill(self) -> list[Upload]:
        """A complete, unused upload for each version; packages are distinct."""
        vendor = self.members[0].vendor
        for version in self.versions:
            known = self.uploads.get(version.pk)
            if known is None or Upload.objects.filter(pk=known.pk).exclude(state="complete").exists():
                self.uploads[version.pk] = vendor.upload(version)
        found = [self.uploads[version.pk] for version in self.versions]
        assert len({upload.sha256 for upload in found}) == TOGETHER
        return found


def trial(
    contest: Contest, bases: list[str], client: httpx.Client, counter: str, number: int
) -> Counter[str]:
    numbers: dict[str, int] = WIDE | {counter: LIMIT}
    task_set = world.task_set(f"{counter}-{number}", profile="demo", **numbers)
    uploads = contest.refill()
    ways: list[Callable[..., str]] = [Member.by_web, Member.by_api]

    def act(at: int) -> str:
        member = contest.members[at // 4 % len(contest.members)]
        return ways[at % 2](member, client, bases[at // 2 % 2], uploads[at], task_set)

    with ThreadPoolExecutor(TOGETHER) as pool:
        said = Counter(pool.map(act, range(TOGETHER)))
    assert Slot.objects.filter(task_set=task_set).count() == LIMIT
    return said


@pytest.mark.acceptance("main-job:3")
@pytest.mark.case("G1")
@pytest.mark.serial
@pytest.mark.parametrize("counter", LIMITED)
@pytest.mark.parametrize(
    "trials", [7, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])]
)
def test_exactly_three_of_twenty_are_admitted(
    trials: int, counter: str, two_servers: list[str], connect_as: Callable[[str], psycopg.Connection[Any]]
) -> None:
    contest = Contest.at(counter)
    with httpx.Client(limits=httpx.Limits(max_connections=TOGETHER)) as client:
        for number in range(trials):
            said = trial(contest, two_servers, client, counter, number)
            assert said == {"admitted": LIMIT, LIMITED[counter]: TOGETHER - LIMIT}, (number, said)
    events = connect_as("auditor").execute(
        "SELECT count(*) FROM audit_event WHERE kind = 'submission.admitted'"
    )
    row = events.fetchone()
    assert row is not None
    assert row[0] == trials * LIMIT
