"""What a fresh user stumbled over: costs of a failure, when the next submission is possible, why a score is 0."""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import translation

from benchmark.models import TaskSetVersion
from config import clock
from leaderboard.templatetags.parts import marked
from submissions.models import Submission
from submissions.queries import preflight_report
from submissions.views.fleet import is_silent, readable
from submissions.views.scores import explained
from tests.factories import saved
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world

MET, WRONG, ABSENT = (
    {"id": "R1", "score": "1", "reason": "met"},
    {"id": "R2", "score": "0", "reason": "wrong"},
    {"id": "R2", "score": "0", "reason": "missing"},
)


def body(client: Client, name: str, *args: object, language: str = "en") -> str:
    answer = client.get(address(name, *args, language=language))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["overview", "rules", "contract"])
def test_public_pages_say_what_a_failure_costs(client: Client, version: TaskSetVersion, name: str) -> None:
    text = body(client, f"leaderboard:{name}")
    assert "costs no submission" in text
    assert "preflights that a harness has in seven days" in text
    assert "costs nothing" not in text


@pytest.mark.django_db
def test_the_contract_is_one_click_away(
    client: Client, version: TaskSetVersion, vendor: world.Vendor
) -> None:
    path = address("leaderboard:contract")
    assert path in body(client, "leaderboard:overview")
    vendor.harness("probe")
    person = signed_in(vendor.user)
    for name in ("leaderboard:home", "submissions:new_submission"):
        assert path in body(person, name)
    for words in ("/workspace", "REPLY_FILE", "harness.toml", "512", "128"):
        assert words in body(person, "leaderboard:contract", language="zh-hans")


@pytest.mark.django_db
def test_home_leads_with_the_date_where_a_rule_bites(vendor: world.Vendor) -> None:
    version = site.task_set(profile="official")
    site.moved(site.submission(vendor, version), *site.TO_COMPLETE)
    text = body(signed_in(vendor.user), "leaderboard:home")
    assert text.index("Next submission possible from") < text.index("submissions left for")
    assert "btn btn-plain" in text


@pytest.mark.django_db
def test_an_unverified_organisation_is_told_before_it_uploads(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    vendor.harness("probe")
    vendor.organisation.state = "under_review"
    saved(vendor.organisation)
    assert "Nothing can be submitted before it is verified" in body(
        signed_in(vendor.user), "submissions:new_submission"
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"score": 0, "items": [MET, WRONG]}, "R2 is decisive and zeroes the run"),
        ({"score": 0, "items": [MET, MET], "failure_type": "missing_deliverable"}, "required deliverable"),
        ({"score": 0, "items": [MET, WRONG], "failure_type": "business_constraint_violation"}, "fatal rule"),
        (
            {"score": "0.5", "items": [MET, ABSENT], "failure_type": "missing_deliverable"},
            "mean of the rules",
        ),
        ({"score": 0, "items": [WRONG]}, "No rule is met"),
    ],
)
def test_a_run_says_why_it_has_its_score(
    complete: Submission, changes: dict[str, object], words: str
) -> None:
    run = preflight_report(complete).runs[0]
    told = replace(run, **{**changes, "score": Decimal(str(changes["score"]))})  # type: ignore[arg-type]
    with translation.override("en"):
        assert words in " ".join(explained(told))
    assert explained(replace(told, success=True)) == []


def test_backticks_and_addresses_are_set() -> None:
    assert (
        marked("Send `a<b` to POST /api/v1/uploads.") == "Send <code>a&lt;b</code> to POST /api/v1/uploads."
    )
    assert marked("GET /api/v1/task-sets.") == '<a href="/api/v1/task-sets">/api/v1/task-sets</a>.'
    assert marked("one ` only") == "one ` only"


def test_probes_are_readable() -> None:
    assert readable("('memory',) {'processes': 128}") == "memory, processes: 128"
    assert readable("measured 1073741824, declared 1073741824") == "measured 1024.0 MiB, declared 1024.0 MiB"
    assert readable("0.100345 s of at most 0.5 s") == "0.10 s of at most 0.5 s"
    assert readable("0.2177345678 s; uids ['3011234567']") == "0.22 s; uids 3011234567"
    assert is_silent(clock.now() - timedelta(hours=1))
    assert not is_silent(clock.now())


@pytest.mark.django_db
def test_signing_out_keeps_the_language(vendor: world.Vendor, version: TaskSetVersion) -> None:
    answer = signed_in(vendor.user).post(address("account_logout", language="zh-hans"))
    assert answer["Location"] == "/zh-hans/"


@pytest.mark.django_db
def test_problem_pages_show_no_dashes_for_numbers(client: Client, version: TaskSetVersion) -> None:
    assert "n of N submissions of this harness" in body(client, "leaderboard:problem", "quota_line")
    text = body(client, "leaderboard:problem", "admitted")
    assert "409" not in text.split("<dl", 1)[1].split("</dl>", 1)[0]
    listed = body(client, "leaderboard:problems").split("What happens to a submission", 1)
    assert "/problems/admitted/" in listed[1]
    assert "/problems/cooldown/" in listed[0]


@pytest.mark.django_db
def test_every_reason_against_a_submission_is_named(vendor: world.Vendor) -> None:
    version = site.task_set(profile="official")
    first = site.submission(vendor, version)
    upload = vendor.upload(first.harness_version, gzip.compress(b"another package"))
    path = address("submissions:confirm", upload.id) + f"?task_set={version.label}"
    text = " ".join(signed_in(vendor.user).get(path).content.decode().split())
    assert "This version has another package" in text
    assert "This stands against it as well" in text
    assert "A submission of this harness is in flight" in text
