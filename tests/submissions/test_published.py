"""What the API publishes: schemas, problem codes in two languages, its own description; marks on what it hands out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from jsonschema import Draft202012Validator

from submissions import cards
from submissions.delivery import delivers, delivery_of
from submissions.problems import Code
from tests.submissions.bundles import card
from tests.submissions.world import Api, Vendor

pytestmark = pytest.mark.django_db


def test_the_schemas_are_served_as_they_are() -> None:
    answer = Api("").get("schemas/harness-card/1")
    assert answer.body == cards.schema("harness-card", 1)
    assert answer.headers["Content-Type"].startswith("application/schema+json")
    assert Draft202012Validator(answer.body).is_valid(card())
    assert Api("").get("schemas/harness-toml/1").status == 200


def test_every_code_is_described_in_both_languages() -> None:
    rows = Api("").get("problems").body["problems"]
    assert {row["code"] for row in rows} == {code.value for code in Code}
    for row in rows:
        assert Api("").get(row["type"].removeprefix("/api/v1/")).body == row
        texts = row["texts"]
        assert set(texts) == {"en", "zh-hans"}
        for words in texts.values():
            assert all(words.values()), row["code"]


def test_a_refusal_speaks_the_language_that_was_asked_for(vendor: Vendor) -> None:
    english = vendor.api.get("nowhere", headers={"accept-language": "en"})
    chinese = vendor.api.get("nowhere", headers={"accept-language": "zh-hans"})
    assert english.body["title"] == "Not found"
    assert chinese.body["title"] != english.body["title"]
    assert chinese.code == english.code


def test_the_description_lists_every_address() -> None:
    answer = Api("").get("openapi.json")
    assert answer.body["openapi"].startswith("3.1")
    paths = answer.body["paths"]
    for path in ("submissions", "uploads", "harnesses", "quota", "task-sets"):
        assert f"/api/v1/{path}" in paths
    post = paths["/api/v1/submissions"]["post"]
    assert {"202", "200", "4XX", "5XX"} <= set(post["responses"])
    header = next(row for row in post["parameters"] if row["name"] == "Idempotency-Key")
    assert (header["in"], header["required"]) == ("header", True)


def _patterns(resolver: URLResolver, prefix: str = "") -> list[tuple[str, URLPattern]]:
    found = []
    for entry in resolver.url_patterns:
        path = prefix + str(entry.pattern)
        found += _patterns(entry, path) if isinstance(entry, URLResolver) else [(path, entry)]
    return found


def test_views_that_hand_out_results_are_marked() -> None:
    marked = {
        path: delivery_of(entry.callback)
        for path, entry in _patterns(get_resolver())
        if path.startswith("api/v1/submissions") or path == "api/v1/quota"
    }
    assert len(marked) >= 6
    assert all(marked.values()), marked
    with pytest.raises(ValueError, match="no kind of delivery"):
        delivers("everything")


def test_what_is_shown_before_release_has_no_field_per_task(vendor: Vendor) -> None:
    from submissions.api.serializers import SubmissionDetailOut, SubmissionOut

    for kind in (SubmissionOut, SubmissionDetailOut):
        names = set(kind().fields)
        assert not names & {"task", "tasks", "domain", "domains", "runs", "episodes", "seconds", "score"}


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        ("execute", "SELECT 1 FROM submissions_submission"),
        ("execute", "SELECT 1 FROM submissions_slot"),
        ("web", "DELETE FROM submissions_slot"),
        ("web", "INSERT INTO submissions_quotapolicy SELECT * FROM submissions_quotapolicy"),
        ("web", "UPDATE submissions_quotapolicy SET value = 99"),
        ("web", "UPDATE submissions_harnessversion SET version = '2'"),
        ("web", "TRUNCATE submissions_slot"),
        ("web", "SELECT 1 FROM evaluation_taskresult"),
        ("console", "DELETE FROM submissions_submission"),
        ("console", "INSERT INTO submissions_slot SELECT * FROM submissions_slot"),
        ("auditor", "UPDATE submissions_slot SET state = 'refunded'"),
        ("auditor", "SELECT object_key FROM submissions_upload"),
    ],
)
@pytest.mark.case("S32")
def test_least_rights(
    role: str, statement: str, connect_as: Callable[[str], psycopg.Connection[Any]]
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as(role).execute(statement)
