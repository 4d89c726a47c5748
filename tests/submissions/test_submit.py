"""Submitting over HTTP, from registering a harness to the receipt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from psycopg import Connection

from benchmark.models import TaskSetVersion
from tests.submissions import world
from tests.submissions.bundles import bundle, card, sha256

pytestmark = pytest.mark.django_db


def send(parts: list[dict], data: bytes) -> list[dict]:
    """What a client does with presigned parts."""
    found, at = [], 0
    for part in parts:
        answer = httpx.put(part["url"], content=data[at : at + part["size"]])
        assert answer.status_code == 200, answer.text
        found.append({"number": part["number"], "etag": answer.headers["etag"]})
        at += part["size"]
    return found


def test_a_ci_job_registers_uploads_and_submits(vendor: world.Vendor, task_set: TaskSetVersion) -> None:
    api = vendor.api
    harness = api.post("harnesses", {"name": "probe", "title": "Probe"})
    assert harness.status == 201
    version = api.post(f"harnesses/{harness.body['id']}/versions", {"version": "1.0", "card": card()})
    assert version.status == 201
    data = bundle("probe", "1.0")
    upload = api.post(
        "uploads", {"harness_version": version.body["id"], "sha256": sha256(data), "size": len(data)}
    )
    assert upload.status == 201, upload.body
    tags = send(upload.body["parts"], data)
    done = api.post(f"uploads/{upload.body['id']}/complete", {"parts": tags})
    assert (done.status, done.body["state"]) == (200, "complete")
    body = {"harness_version": version.body["id"], "task_set": task_set.label, "upload": upload.body["id"]}
    receipt = api.post("submissions", body)
    assert receipt.status == 202, receipt.body
    assert receipt.headers["Location"] == f"/api/v1/submissions/{receipt.body['id']}"
    shown = api.get(f"submissions/{receipt.body['id']}")
    assert shown.body["state"] == "created"
    assert shown.body["charge"]["state"] == "reserved"
    assert shown.body["progress"] == 0
    assert [moment["state"] for moment in shown.body["timeline"]] == ["created"]


@pytest.mark.django_db(transaction=True)
def test_every_change_is_an_event_of_the_same_transaction(
    connect_as: Callable[[str], Connection[Any]],
) -> None:
    vendor, task_set = world.vendor(), world.task_set()
    submission = vendor.submit(task_set, vendor.harness())
    auditor = connect_as("auditor")
    kinds = {row[0] for row in auditor.execute("SELECT kind FROM audit_event").fetchall()}
    assert {
        "harness.registered",
        "harness.version_registered",
        "upload.opened",
        "upload.ended",
        "quota.policy_set",
        "submission.admitted",
        "slot.reserved",
    } <= kinds
    bodies = auditor.execute(
        "SELECT convert_from(body, 'UTF8') FROM audit_event WHERE kind = 'submission.admitted'"
    ).fetchall()
    assert len(bodies) == 1
    assert str(submission.id) in bodies[0][0]
    assert str(vendor.user.pseudonym) in bodies[0][0]
    assert vendor.user.email not in bodies[0][0]
