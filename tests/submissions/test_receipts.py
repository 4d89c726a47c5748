"""Receipts: proofs for the vendor, checked without the platform, fixed once given, with nothing else in them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit.merkle.proof import Proof
from audit.models import Checkpoint, LogKey
from benchmark.models import TaskSetVersion
from client.audit.main import main
from governance import services as governance
from submissions.models import Submission
from tests.audit.conftest import add_events
from tests.factories import BY
from tests.governance.test_delivery import bring_on, released, write_results
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def task_set() -> TaskSetVersion:
    found = world.task_set()
    governance.set_release_policy(found, profile="demo", tick_seconds=5, by=BY)
    return found


@pytest.fixture
def submission(vendor: world.Vendor, task_set: TaskSetVersion) -> Submission:
    return vendor.submit(task_set, vendor.harness())


def released_one(submission: Submission) -> Submission:
    found = bring_to(submission, "running")
    write_results(found)
    assert released(bring_on(found))
    return found


def receipt(vendor: world.Vendor, submission: Submission) -> world.Answer:
    return vendor.api.get(f"submissions/{submission.id}/receipt")


def entry(proof: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Proof.parse(proof).extra or b"")
    return found


def checked(folder: Path, body: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `lgbench-audit verify` says of the file, with the log's key taken from the log."""
    path = folder / "receipt.json"
    path.write_text(json.dumps(body))
    capsys.readouterr()
    code = main(["verify", str(path), "--key", LogKey.objects.get().vkey, "--json"])
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (code == 0) == said["ok"]
    return said


def test_until_the_log_is_signed_there_is_none(vendor: world.Vendor, submission: Submission) -> None:
    early = receipt(vendor, submission)
    assert (early.status, early.code, early.headers["Retry-After"]) == (409, "receipt_not_ready", "5")
    page = signed_in(vendor.user).get(address("submissions:receipt", submission.id))
    assert page.status_code == 409
    assert page.headers["Retry-After"] == "5"
    assert b"The receipt is not ready yet" in page.content


@pytest.mark.acceptance("log:6")
def test_admission_and_release_are_verified_offline(
    vendor: world.Vendor,
    submission: Submission,
    sequence: Sequence,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sequence()
    first = receipt(vendor, submission).body
    assert set(first) == {"schema", "submission", "log", "admission"}
    assert checked(tmp_path, first, capsys)["ok"]
    released_one(submission)
    assert set(receipt(vendor, submission).body) == set(first), "the release is not in a signed tree yet"
    sequence()
    second = receipt(vendor, submission).body
    assert second["admission"] == first["admission"]
    assert second["log"] == LogKey.objects.get().vkey
    assert checked(tmp_path, second, capsys)["ok"]
    values = vendor.api.get(f"submissions/{submission.id}/result").body["domains"]
    assert {name: row["value"] for name, row in entry(second["release"])["data"]["values"].items()} == {
        **{name: row["value"] for name, row in values.items()},
        "enterprise": 48,
    }


def test_a_changed_receipt_is_found(
    vendor: world.Vendor,
    submission: Submission,
    sequence: Sequence,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sequence()
    body = receipt(vendor, submission).body
    proof = Proof.parse(body["admission"])
    assert proof.extra is not None
    forged = proof.extra.replace(b"submission.admitted", b"submission.refused!")
    assert forged != proof.extra
    lines = {"extra": Proof(proof.index, proof.path, proof.checkpoint, forged).format()}
    lines["index"] = Proof(proof.index + 1, proof.path, proof.checkpoint, proof.extra).format()
    for changed in lines.values():
        assert not checked(tmp_path, {**body, "admission": changed}, capsys)["ok"]
    assert not checked(tmp_path, {**body, "submission": world.uuid.uuid4().hex}, capsys)["ok"]


def test_asking_again_says_nothing_about_the_growth_of_the_log(
    vendor: world.Vendor, submission: Submission, sequence: Sequence, connect_as: Connect
) -> None:
    sequence()
    first = receipt(vendor, submission).body
    for _ in range(3):
        add_events(connect_as("web"), 300)
        sequence()
        assert receipt(vendor, submission).body == first
    assert Checkpoint.objects.count() == 4
    assert Proof.parse(first["admission"]).checkpoint.split("\n")[1] == str(
        Checkpoint.objects.order_by("size").values_list("size", flat=True)[0]
    )


def test_a_proof_reaches_over_full_tiles(
    vendor: world.Vendor,
    task_set: TaskSetVersion,
    sequence: Sequence,
    connect_as: Connect,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    add_events(connect_as("web"), 700)
    submission = vendor.submit(task_set, vendor.harness())
    add_events(connect_as("web"), 700)
    size = sequence()
    body = receipt(vendor, submission).body
    said = checked(tmp_path, body, capsys)
    assert said["ok"]
    assert size > 1400
    assert len(Proof.parse(body["admission"]).path) >= 10


def test_page_and_api_give_the_same_file(
    vendor: world.Vendor, submission: Submission, sequence: Sequence
) -> None:
    sequence()
    browser = signed_in(vendor.user)
    page = browser.get(address("submissions:receipt", submission.id))
    assert page.headers["Content-Disposition"] == f'attachment; filename="receipt-{submission.id}.json"'
    answer = receipt(vendor, submission)
    assert answer.headers["Content-Disposition"] == page.headers["Content-Disposition"]
    assert json.loads(page.content) == answer.body
    assert answer.headers["Cache-Control"] == "private, no-cache"
    shown = browser.get(address("submissions:submission", submission.id)).content.decode()
    assert address("submissions:receipt", submission.id) in shown


def test_anothers_receipt_is_not_there(
    submission: Submission, other: world.Vendor, sequence: Sequence
) -> None:
    sequence()
    theirs, none = receipt(other, submission), other.api.get(f"submissions/{world.uuid.uuid4()}/receipt")
    assert (theirs.status, theirs.body) == (none.status, none.body)
    assert theirs.status == 404
    browser = signed_in(other.user)
    assert browser.get(address("submissions:receipt", submission.id)).status_code == 404


@pytest.fixture
def other() -> world.Vendor:
    return world.vendor()


def test_the_entries_hold_what_the_vendor_knows_and_nothing_per_task(
    vendor: world.Vendor, submission: Submission, sequence: Sequence
) -> None:
    from evaluation.models import Attempt, Episode, TaskResult

    released_one(submission)
    sequence()
    body = receipt(vendor, submission).body
    admission, release = entry(body["admission"]), entry(body["release"])
    assert set(admission["data"]) == {
        *("harness_version", "task_set", "package_digest", "card_digest", "upload", "lineage"),
        "publication_consent",
    }
    # A salted root over the runs may stand beside these; a leaf or a task may not.
    assert {"policy", "values", "coverage"} <= set(release["data"])
    assert set(release["data"]) <= {
        *("policy", "policy_row", "values", "bounds", "coverage", "runs_root", "runs")
    }
    assert set(release["data"]["values"]) == {
        *("general", "finance", "supply_chain", "manufacturing", "enterprise")
    }
    text = json.dumps([admission, release])
    run = Episode.objects.filter(run=submission_run(submission))
    held = [str(key) for key in Attempt.objects.values_list("id", flat=True)]
    held += list(run.values_list("task__slug", flat=True)) + list(run.values_list("task__digest", flat=True))
    assert TaskResult.objects.exists()
    assert len(held) >= 12
    assert not [word for word in held if word in text]


def submission_run(submission: Submission) -> Any:
    submission.refresh_from_db()
    return submission.held_out_run


@pytest.mark.parametrize("kind", ["submission.moved", "attempt.ended", "result.read", ""])
def test_the_database_gives_out_two_kinds_only(
    submission: Submission, sequence: Sequence, connect_as: Connect, kind: str
) -> None:
    bring_to(submission, "running")
    sequence()
    web = connect_as("web")
    found = "SELECT count(*) FROM audit_receipt_entry(%s, %s)"
    assert web.execute(found, ["submission.admitted", str(submission.id)]).fetchone() == (1,)
    assert web.execute(found, [kind, str(submission.id)]).fetchone() == (0,)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        web.execute("SELECT body FROM audit_event")


@pytest.mark.parametrize("role", ["execute", "sealed", "console", "sequencer"])
def test_no_other_role_has_the_entries(connect_as: Connect, role: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as(role).execute("SELECT * FROM audit_receipt_entry('submission.admitted', 'x')")


def test_the_proof_holds_the_very_bytes_that_were_hashed(
    vendor: world.Vendor, submission: Submission, sequence: Sequence, connect_as: Connect
) -> None:
    sequence()
    proof = Proof.parse(receipt(vendor, submission).body["admission"])
    body, position = (
        connect_as("auditor")
        .execute(  # type: ignore[misc]
            "SELECT body, position FROM audit_event e JOIN audit_entry ON event_id = e.id "
            "WHERE kind = 'submission.admitted' AND subject_id = %s",
            [str(submission.id)],
        )
        .fetchone()
    )
    assert (bytes(body), position) == (proof.extra, proof.index)
    assert base64.b64encode(body).decode() in receipt(vendor, submission).body["admission"]
