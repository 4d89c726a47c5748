"""Tags and 304, pages by cursor, and what is announced to go."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from benchmark.models import TaskSetVersion
from config import clock
from submissions import services
from submissions.api import versioning
from submissions.api.paging import cursor_of
from submissions.models import Harness
from tests.submissions import world
from tests.submissions.world import Answer, Vendor

pytestmark = pytest.mark.django_db
Connect = Callable[[str], psycopg.Connection[Any]]


def again(vendor: Vendor, path: str, tag: str) -> Answer:
    return vendor.api.get(path, headers={"if-none-match": tag})


def test_who_has_it_is_not_sent_it_again(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    submission = vendor.submit(task_set, harness)
    version = submission.harness_version
    paths = [
        "harnesses",
        f"harnesses/{harness.id}",
        f"harnesses/{harness.id}/versions",
        f"versions/{version.id}",
    ]
    paths += ["submissions", f"submissions/{submission.id}", "quota", "task-sets", "problems/cooldown"]
    for path in paths:
        first = vendor.api.get(path)
        assert first.status == 200, path
        assert first.headers["ETag"].startswith('W/"'), path
        assert first.headers["Cache-Control"] == "private, no-cache", path
        same = again(vendor, path, first.headers["ETag"])
        assert (same.status, same.body, same.headers["ETag"]) == (304, {}, first.headers["ETag"]), path
        assert again(vendor, path, '"other", ' + first.headers["ETag"]).status == 304, path
        assert again(vendor, path, '"other"').status == 200, path


def test_a_change_is_a_new_tag_and_time_alone_is_none(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    tag = vendor.api.get("quota").headers["ETag"]
    with clock.shifted(timedelta(minutes=5)):
        assert again(vendor, "quota", tag).status == 304
    submission = vendor.submit(task_set, harness)
    assert again(vendor, "quota", tag).status == 200
    path = f"submissions/{submission.id}"
    tag = vendor.api.get(path).headers["ETag"]
    services.cancel(submission.id, by=vendor.actor)
    assert again(vendor, path, tag).status == 200


def test_a_tag_opens_nothing(vendor: Vendor, other: Vendor, harness: Harness) -> None:
    path = f"harnesses/{harness.id}"
    tag = vendor.api.get(path).headers["ETag"]
    assert again(other, path, tag).status == 404
    assert again(other, path, "*").status == 404


def test_addresses_that_open_the_store_are_kept_nowhere(vendor: Vendor, harness: Harness) -> None:
    upload = services.open_upload(vendor.version(harness), sha256="0" * 64, size=10, by=vendor.actor)
    answer = vendor.api.get(f"uploads/{upload.id}")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "ETag" not in answer.headers


@pytest.mark.django_db(transaction=True)
def test_an_unchanged_card_is_on_record_as_read(
    vendor: Vendor, harness: Harness, connect_as: Connect
) -> None:
    version = vendor.version(harness)
    tag = vendor.api.get(f"versions/{version.id}").headers["ETag"]
    assert again(vendor, f"versions/{version.id}", tag).status == 304
    rows = connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind = 'card.read'").fetchall()
    assert len(rows) == 2
    assert {json.loads(body)["data"]["surface"] for (body,) in rows} == {"api-version"}


@pytest.mark.parametrize("name", ["harnesses", "versions", "submissions"])
def test_pages_lead_on_and_show_each_row_once(vendor: Vendor, harness: Harness, name: str) -> None:
    task_set = world.task_set(in_flight=9, preflight=9, line=9, lineage=9, account=9)
    for number in range(4):
        vendor.harness(f"h{number}")
        vendor.submit(task_set, harness)
    path = f"harnesses/{harness.id}/versions" if name == "versions" else name
    whole = [row["id"] for row in vendor.api.get(path).body[name]]
    assert len(whole) in (4, 5)
    seen, address, pages = [], f"/api/v1/{path}?limit=2", 0
    while address:
        answer = vendor.api.get(address.removeprefix("/api/v1/"))
        assert answer.status == 200
        assert len(answer.body[name]) <= 2
        seen += [row["id"] for row in answer.body[name]]
        address, pages = answer.body["next"], pages + 1
        assert answer.headers.get("Link") == (f'<{address}>; rel="next"' if address else None)
    assert seen == whole
    assert pages == (len(whole) + 1) // 2


@pytest.mark.parametrize(
    "query", ["cursor=x", "cursor=", f"cursor={'A' * 23}", "limit=0", "limit=101", "limit=x", "a=b"]
)
@pytest.mark.parametrize("path", ["harnesses", "submissions"])
def test_what_is_no_cursor_or_limit_is_named(vendor: Vendor, path: str, query: str) -> None:
    answer = vendor.api.get(f"{path}?{query}")
    assert (answer.status, answer.code) == (422, "invalid_field")
    assert answer.body["errors"][0]["path"] == f"$.{query.partition('=')[0]}"


def test_another_s_row_as_cursor_shows_nothing_of_it(
    vendor: Vendor, other: Vendor, task_set: TaskSetVersion
) -> None:
    theirs = other.submit(task_set, other.harness())
    mine = vendor.submit(task_set, vendor.harness())
    rows = vendor.api.get(f"submissions?cursor={cursor_of(theirs.id)}").body["submissions"]
    assert str(theirs.id) not in json.dumps(rows)
    assert all(row["id"] == str(mine.id) for row in rows)
    assert vendor.api.get(f"harnesses?cursor={cursor_of(theirs.id)}").status == 422


def test_what_will_be_gone_says_so_in_time(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    submission = vendor.submit(task_set, harness)
    answer = vendor.api.get(f"submissions?before={submission.id}")
    assert (answer.status, answer.body["submissions"]) == (200, [])
    assert answer.headers["Deprecation"] == f"@{int(versioning.BEFORE.since.timestamp())}"
    assert answer.headers["Sunset"] == "Fri, 31 Dec 2027 00:00:00 GMT"
    assert 'rel="deprecation"' in answer.headers["Link"]
    assert "Deprecation" not in vendor.api.get("submissions").headers
    parameters = vendor.api.get("openapi.json").body["paths"]["/api/v1/submissions"]["get"]["parameters"]
    assert [row["name"] for row in parameters if row.get("deprecated")] == ["before"]


def test_nothing_may_go_within_a_year_of_its_announcement() -> None:
    since = datetime(2027, 1, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match="less than a year"):
        versioning.Deprecation("x", since, since + timedelta(days=300), "y")
    assert all(row.until - row.since >= timedelta(days=365) for row in versioning.DEPRECATIONS)
