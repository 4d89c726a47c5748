"""The web form's way from a file to a submission: choosing submits nothing, confirming does, and only once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts import services as accounts
from benchmark.models import TaskSetVersion
from submissions.models import HarnessVersion, Submission, Upload
from submissions.views import submitting
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world
from tests.submissions.bundles import bundle, sha256

pytestmark = pytest.mark.django_db
NEW = "/en/v/submissions/new/"


@pytest.fixture
def client(vendor: world.Vendor) -> Client:
    return signed_in(vendor.user)


@pytest.fixture
def ours(vendor: world.Vendor) -> HarnessVersion:
    return vendor.version(vendor.harness(), "1.0")


def send(
    client: Client,
    ours: HarnessVersion,
    to: TaskSetVersion,
    data: bytes,
    changes: dict[str, Any] | None = None,
) -> Any:
    fields: dict[str, Any] = {
        "version": str(ours.id),
        "task_set": to.label,
        "package": SimpleUploadedFile("bundle.tar.gz", data),
    }
    return client.post(NEW, fields | (changes or {}))


def key_in(page: Any) -> str:
    found = re.search(r'name="key" value="([^"]+)"', page.content.decode())
    assert found
    return found.group(1)


def confirm(client: Client, address: str, **changes: Any) -> Any:
    """Press the button of the confirm page at `address`."""
    page = client.get(address)
    fields = {"key": key_in(page), "task_set": address.rsplit("=", 1)[1], **changes}
    return client.post(address, fields)


@pytest.mark.case("U19")
def test_a_file_becomes_a_submission_in_two_steps(
    client: Client, ours: HarnessVersion, version: TaskSetVersion
) -> None:
    sent = send(client, ours, version, bundle("probe", "1.0"))
    assert sent.status_code == 302
    assert Submission.objects.count() == 0
    page = client.get(sent.headers["Location"]).content.decode()
    assert "This uses 1 of your 3 remaining submissions." in page
    assert "You will receive four domain scores and nothing finer." in page
    assert Submission.objects.count() == 0
    done = confirm(client, sent.headers["Location"], publication_consent="on")
    submission = Submission.objects.get()
    assert done.headers["Location"] == f"/en/v/submissions/{submission.id}/"
    assert (submission.channel, submission.publication_consent) == ("web", True)
    assert submission.package_digest == sha256(bundle("probe", "1.0"))


def test_the_cost_names_the_next_instant(client: Client, ours: HarnessVersion) -> None:
    official = site.task_set("2026.8", profile="official", line=1)
    sent = send(client, ours, official, bundle("probe", "1.0"))
    page = client.get(sent.headers["Location"]).content.decode()
    assert "This uses the 1 submission you have left." in page
    assert re.search(r"Next submission possible from</?[^<]*<time|Next submission possible from <time", page)


@pytest.mark.case("U19")
def test_pressing_twice_submits_once(client: Client, ours: HarnessVersion, version: TaskSetVersion) -> None:
    sent = send(client, ours, version, bundle("probe", "1.0"))
    fields = {"key": key_in(client.get(sent.headers["Location"])), "task_set": version.label}
    answers = [client.post(sent.headers["Location"], fields) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 302]
    assert answers[0].headers["Location"] == answers[1].headers["Location"]
    assert Submission.objects.count() == 1


def test_a_key_belongs_to_what_was_confirmed(
    client: Client, ours: HarnessVersion, version: TaskSetVersion
) -> None:
    sent = send(client, ours, version, bundle("probe", "1.0"))
    key = key_in(client.get(sent.headers["Location"]))
    fields = {"key": key, "task_set": version.label}
    client.post(sent.headers["Location"], fields)
    answer = client.post(sent.headers["Location"], {**fields, "publication_consent": "on"})
    assert answer.status_code == 409
    assert "idempotency_conflict" in answer.content.decode()


@pytest.mark.acceptance("main-job:8")
def test_a_refusal_carries_code_and_date(vendor: world.Vendor, client: Client, ours: HarnessVersion) -> None:
    official = site.task_set("2026.8", profile="official")
    first = site.moved(site.submission(vendor, official, "first"), *site.TO_COMPLETE)
    line = first.harness_version.harness
    again = vendor.version(line, "9.0")
    site.task_set("2026.7")  # another one takes it, else not a byte of the package would be
    sent = send(client, again, official, bundle("first", "9.0"))
    page = client.get(sent.headers["Location"]).content.decode()
    assert "cooldown" in page
    answer = client.post(sent.headers["Location"], {"key": "k", "task_set": official.label})
    assert answer.status_code == 429
    text = answer.content.decode()
    assert "<code>cooldown</code>" in text
    assert first.cooldown_until is not None
    assert f"{first.cooldown_until:%Y-%m-%d %H:%M:%S} UTC" in text
    assert "Nothing was charged" in text


BAD = [
    ({"sha256": "0" * 64}, 422, "hash_mismatch"),
    ({"sha256": "zz"}, 422, "64 hexadecimal digits"),
    ({"version": "no uuid"}, 422, "invalid-feedback"),
    ({"task_set": "none"}, 422, "invalid-feedback"),
    ({"package": SimpleUploadedFile("bundle.tar.gz", b"")}, 422, "package_empty"),
    ({"package": ""}, 422, "invalid-feedback"),
]


@pytest.mark.acceptance("main-job:8")
@pytest.mark.parametrize(("changes", "status", "words"), BAD)
def test_bad_input_is_said_at_its_place(
    client: Client,
    ours: HarnessVersion,
    version: TaskSetVersion,
    changes: dict[str, Any],
    status: int,
    words: str,
) -> None:
    for value in changes.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    answer = send(client, ours, version, bundle("probe", "1.0"), changes)
    assert answer.status_code in (status, 400)
    assert words in answer.content.decode()
    assert not Upload.objects.filter(state="complete").exists()


@pytest.mark.acceptance("main-job:8")
def test_a_bundle_over_the_limit_is_refused_before_it_is_kept(
    client: Client, ours: HarnessVersion, version: TaskSetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submitting.BoundedUpload, "largest", 64 * 1024)
    answer = send(client, ours, version, b"x" * 200_000)
    assert answer.status_code == 413
    assert "package_too_large" in answer.content.decode()
    monkeypatch.setattr(submitting, "LARGEST", 64 * 1024)
    monkeypatch.setattr(submitting, "ENVELOPE", 0)
    assert send(client, ours, version, b"x" * 200_000).status_code == 413
    assert Upload.objects.count() == 0


@pytest.mark.acceptance("main-job:8")
def test_the_version_of_another_vendor_is_no_choice(
    client: Client, other: world.Vendor, ours: HarnessVersion, version: TaskSetVersion
) -> None:
    foreign = other.version(other.harness(), "1.0")
    assert send(client, foreign, version, bundle("probe", "1.0")).status_code == 422
    assert Upload.objects.count() == 0


def test_an_unverified_organisation_is_told_on_the_confirm_page(version: TaskSetVersion) -> None:
    new = world.vendor(verified=False)
    client = signed_in(new.user)
    ours = new.version(new.harness(), "1.0")
    sent = send(client, ours, version, bundle("probe", "1.0"))
    page = client.get(sent.headers["Location"]).content.decode()
    assert "organisation_not_verified" in page
    answer = client.post(sent.headers["Location"], {"key": "k", "task_set": version.label})
    assert answer.status_code == 403
    accounts.verify_organisation(new.organisation, by=site.BY)
    assert confirm(client, sent.headers["Location"]).status_code == 302


def test_an_identical_package_returns_the_earlier_result(
    vendor: world.Vendor, client: Client, ours: HarnessVersion, version: TaskSetVersion
) -> None:
    first = confirm(client, send(client, ours, version, bundle("probe", "1.0")).headers["Location"])
    site.moved(Submission.objects.get(), *site.TO_COMPLETE)
    sent = send(client, ours, version, bundle("probe", "1.0"))
    assert "nothing runs and nothing is charged" in client.get(sent.headers["Location"]).content.decode()
    again = confirm(client, sent.headers["Location"])
    assert again.headers["Location"] == first.headers["Location"]
    assert "nothing was charged" in client.get(again.headers["Location"]).content.decode()


def test_pages_lead_to_the_next_step_where_something_is_missing(
    client: Client, version: TaskSetVersion
) -> None:
    assert "There is none yet" in client.get(NEW).content.decode()
