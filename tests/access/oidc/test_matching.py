"""Which job is meant: GitLab's as GitHub's, refs and environments, several harnesses; and the dry run that tells."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode

import pytest

from accounts.publishing import services as publishing
from accounts.publishing.models import CiGrant, TrustedPublisher
from submissions.models import Harness
from tests.access.oidc.arranged import PUBLIC, Job, registered
from tests.issuer import Issuer
from tests.submissions import world

pytestmark = pytest.mark.django_db
line = pytest.mark.acceptance("access:3")


@line
def test_a_gitlab_job_is_as_good(vendor: world.Vendor, harness: Harness, gitlab: Issuer) -> None:
    registered(vendor, harness, gitlab.address, "gitlab")
    job = Job(gitlab, "gitlab")
    assert job.exchange().status == 201
    for claims in (
        {"pipeline_source": "merge_request_event"},
        {"pipeline_source": "external_pull_request_event"},
        {"pipeline_source": "parent_pipeline", "ref_path": "refs/merge-requests/1/head"},
    ):
        assert job.exchange(**claims).code == "oidc_event"
    renamed = job.exchange(namespace_id="99")
    assert (renamed.code, renamed.body["field"]) == ("oidc_mismatch", "namespace_id")
    other = job.exchange(ci_config_ref_uri="evil.invalid/acme/tools/harness//.gitlab-ci.yml@refs/heads/main")
    assert (other.code, other.body["field"]) == ("oidc_mismatch", "ci_config_ref_uri")
    assert job.exchange(project_path="acme/tools/other").body["field"] == "project_path"


@pytest.mark.case("G37")
def test_ref_and_environment_count_where_they_are_registered(
    vendor: world.Vendor, harness: Harness, issuer: Issuer
) -> None:
    registered(vendor, harness, issuer.address, ref="main", environment="Release")
    job = Job(issuer)
    assert job.exchange(environment="release").status == 201
    missing = job.exchange()
    assert (missing.code, missing.body["field"], missing.body["received"]) == (
        "oidc_mismatch",
        "environment",
        "–",
    )
    branch = job.exchange(ref="refs/heads/x", environment="release", job_workflow_ref=_workflow("main"))
    assert (branch.code, branch.body["field"]) == ("oidc_mismatch", "ref")
    assert (
        job.exchange(environment="release", job_workflow_ref=_workflow("x")).body["field"]
        == "job_workflow_ref"
    )


def _workflow(branch: str) -> str:
    return f"acme/harness/.github/workflows/submit.yml@refs/heads/{branch}"


def test_names_are_compared_as_the_services_do(job: Job) -> None:
    assert job.exchange(repository="Acme/Harness").status == 201


def test_a_job_for_several_harnesses_names_one(vendor: world.Vendor, job: Job, harness: Harness) -> None:
    second = vendor.harness("second")
    registered(vendor, second, job.issuer.address)
    assert job.exchange().code == "oidc_ambiguous"
    for named in ("second", str(second.id)):
        answer = world.Api("").post("oidc/exchange", {"token": job.issuer.mint(), "harness": named})
        assert answer.body["act"]["harness"] == str(second.id)
    absent = world.Api("").post("oidc/exchange", {"token": job.issuer.mint(), "harness": "third"})
    assert (absent.code, absent.body["field"]) == ("oidc_no_publisher", "harness")


def test_a_harness_that_bears_anothers_id_as_its_name_is_not_meant_by_it(
    job: Job, harness: Harness, publisher: TrustedPublisher, issuer: Issuer
) -> None:
    """Ids stand in the public log, so another vendor can take one for a name and register the repository too."""
    squatter = world.vendor()
    registered(squatter, squatter.harness(str(harness.id)), issuer.address)
    body = {"token": job.issuer.mint(), "harness": str(harness.id)}
    answer = world.Api("").post("oidc/exchange", body)
    assert (answer.status, answer.body["act"]["harness"]) == (201, str(harness.id))
    publishing.remove(publisher, person=publisher.registered_by, by=world.BY)
    answer = world.Api("").post("oidc/exchange", {**body, "token": job.issuer.mint()})
    assert (answer.status, answer.code) == (401, "publisher_removed")


def test_an_id_is_no_name_even_where_nobody_is_trusted_by_it(
    job: Job, vendor: world.Vendor, issuer: Issuer
) -> None:
    second, squatter = vendor.harness("second"), world.vendor()
    registered(squatter, squatter.harness(str(second.id)), issuer.address)
    for named in (str(second.id), str(second.id).upper()):
        answer = world.Api("").post("oidc/exchange", {"token": job.issuer.mint(), "harness": named})
        assert (answer.code, answer.body["field"]) == ("oidc_no_publisher", "harness")


@pytest.mark.parametrize(
    ("header", "claims"),
    [
        ({"alg": "\ud800"}, {"iss": "x"}),
        ({"alg": "RS256", "kid": "a"}, {"iss": "\ud800"}),
        ({"alg": "RS256", "kid": "\ud800"}, {"iss": PUBLIC}),
    ],
    ids=["alg", "iss", "kid"],
)
def test_half_a_surrogate_pair_is_no_text(header: dict[str, str], claims: dict[str, str]) -> None:
    parts = (urlsafe_b64encode(json.dumps(part).encode()).decode() for part in (header, claims))
    token = ".".join((*parts, "AAAA"))
    for what in ("exchange", "check"):
        answer = world.Api("").post(f"oidc/{what}", {"token": token})
        assert (answer.status, answer.code) == (401, "oidc_malformed")


# --- the dry run -----------------------------------------------------------------------------------


@pytest.mark.case("G37")
def test_a_dry_run_says_field_by_field_whether_it_would_match(job: Job, publisher: TrustedPublisher) -> None:
    token = job.issuer.mint()
    good = world.Api("").post("oidc/check", {"token": token})
    assert (good.body["matches"], good.body["publisher"]) == (True, str(publisher.id))
    assert job.exchange(token).status == 201
    bad = job.check(job_workflow_ref=_workflow("main").replace("submit", "other"))
    assert (bad.body["matches"], bad.body["code"]) == (False, "oidc_mismatch")
    wrong = [row for row in bad.body["fields_compared"] if not row["matches"]]
    assert [(row["field"], row["expected"]) for row in wrong] == [
        ("workflow", ".github/workflows/submit.yml")
    ]
    assert "other.yml" in wrong[0]["received"]
    assert CiGrant.objects.count() == 1


def test_a_dry_run_says_nothing_of_other_vendors(job: Job) -> None:
    stranger = job.check(repository="evil/repository")
    assert stranger.code == "oidc_no_publisher"
    assert "acme" not in json.dumps(stranger.body)
    squatter = job.check(repository_owner_id="99")
    assert (squatter.body["publisher"], squatter.body["harness"]) == (None, None)
    assert [row["field"] for row in squatter.body["fields_compared"]] == ["repository", "owner_id"]
