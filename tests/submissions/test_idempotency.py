"""The same request again, also many times at once: one submission, one slot, one answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from benchmark.models import TaskSetVersion
from config import clock
from submissions import services
from submissions.models import Harness, IdempotencyRecord, Slot, Submission, Upload
from tests.submissions import world
from tests.submissions.bundles import bundle, sha256
from tests.submissions.outcomes import bring_to
from tests.submissions.world import Answer, Vendor


def at_once(count: int, act: Callable[[int], Answer]) -> list[Answer]:
    """`act(0)`, `act(1)`, … from as many threads."""

    def closing(number: int) -> Answer:
        try:
            return act(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(closing, range(count)))


@pytest.mark.case("G8")
@pytest.mark.case("S23")
@pytest.mark.case("S43")
@pytest.mark.django_db(transaction=True)
def test_twenty_parallel_posts_with_one_key() -> None:
    vendor, task_set = world.vendor(), world.task_set()
    body = world.body_of(vendor.order(task_set, vendor.harness()))
    answers = at_once(20, lambda _: vendor.api.post("submissions", body, key="one"))
    assert {answer.status for answer in answers} == {202}
    assert len({str(answer.body) for answer in answers}) == 1
    assert Submission.objects.count() == Slot.objects.count() == 1
    other = vendor.api.post("submissions", body | {"publication_consent": True}, key="one")
    assert (other.status, other.code) == (409, "idempotency_conflict")


@pytest.mark.case("S21")
@pytest.mark.django_db(transaction=True)
def test_fifty_parallel_posts_against_a_limit_of_three() -> None:
    vendor, task_set = world.vendor(), world.task_set(in_flight=50, preflight=50)
    harness = vendor.harness()
    bodies = [world.body_of(vendor.order(task_set, harness)) for _ in range(50)]
    answers = at_once(50, lambda number: vendor.api.post("submissions", bodies[number]))
    assert sorted(answer.status for answer in answers) == [202] * 3 + [429] * 47
    assert {answer.code for answer in answers if answer.status == 429} == {"quota_line"}
    assert Slot.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_one_upload_is_used_once() -> None:
    vendor, task_set = world.vendor(), world.task_set(in_flight=9, preflight=9)
    body = world.body_of(vendor.order(task_set, vendor.harness()))
    answers = at_once(8, lambda number: vendor.api.post("submissions", body, key=f"k{number}"))
    assert sorted(answer.status for answer in answers) == [202] + [409] * 7
    assert {answer.code for answer in answers if answer.status == 409} == {"upload_used"}


@pytest.mark.django_db
def test_a_key_is_needed_and_kept_for_thirty_days(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    body = world.body_of(vendor.order(task_set, harness))
    for key in ("", "x" * 256):
        answer = vendor.api.post("submissions", body, key=key)
        assert (answer.status, answer.code) == (400, "idempotency_key_required")
    first = vendor.api.post("submissions", body, key="k")
    with clock.shifted(timedelta(days=29)):
        services.sweep()
    again = vendor.api.post("submissions", body, key="k")
    assert (again.status, again.body) == (first.status, first.body)
    with clock.shifted(timedelta(days=31)):
        services.sweep()
    assert not IdempotencyRecord.objects.filter(key="k").exists()


@pytest.mark.django_db
def test_a_refusal_keeps_no_key(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    first = vendor.submit(task_set, harness)
    body = world.body_of(vendor.order(task_set, harness))
    assert vendor.api.post("submissions", body, key="k").code == "in_flight"
    services.cancel(first.id, by=vendor.actor)
    assert vendor.api.post("submissions", body, key="k").status == 202


@pytest.mark.django_db
def test_every_creating_post_is_repeatable(vendor: Vendor, harness: Harness) -> None:
    first = vendor.api.post("harnesses", {"name": "twice"}, key="h")
    assert vendor.api.post("harnesses", {"name": "twice"}, key="h").body == first.body
    assert vendor.api.post("harnesses", {"name": "twice"}, key="h2").code == "name_taken"
    data = bundle()
    body = {"harness_version": str(vendor.version(harness).id), "sha256": sha256(data), "size": len(data)}
    answers = [vendor.api.post("uploads", body, key="u") for _ in range(2)]
    assert answers[0].body["id"] == answers[1].body["id"]
    assert all(answer.body["parts"] for answer in answers)
    stored = str(list(IdempotencyRecord.objects.values_list("answer", flat=True)))
    assert "Signature" not in stored
    assert Upload.objects.count() == 1


@pytest.mark.django_db
class TestIdenticalSubmissions:
    """Same lineage, package, card and versions: the earlier result. Across lineages nothing."""

    def twice(self, vendor: Vendor, task_set: TaskSetVersion, state: str) -> tuple[Submission, Answer]:
        harness = vendor.harness()
        version = vendor.version(harness, "1.0")
        receipt = services.submit(vendor.order(task_set, harness, version), by=vendor.actor, key="first")
        first = bring_to(Submission.objects.get(pk=receipt.submission_id), state)
        again = vendor.api.post("submissions", world.body_of(vendor.order(task_set, harness, version)))
        return first, again

    def test_a_complete_one_is_returned(self, vendor: Vendor) -> None:
        task_set = world.task_set(line=1, lineage=1, account=1, preflight=1)
        first, again = self.twice(vendor, task_set, "complete")
        assert (again.status, again.body["id"], again.body["note"]) == (
            200,
            str(first.id),
            "identical_earlier",
        )
        assert Slot.objects.count() == 1

    def test_one_in_flight_is_named(self, vendor: Vendor) -> None:
        first, again = self.twice(vendor, world.task_set(), "running")
        assert (again.status, again.code) == (409, "identical_in_flight")
        assert again.body["instance"] == f"/api/v1/submissions/{first.id}"

    def test_one_that_failed_may_be_tried_again(self, vendor: Vendor) -> None:
        task_set = world.task_set()
        harness = vendor.harness()
        version = vendor.version(harness, "1.0")
        receipt = services.submit(vendor.order(task_set, harness, version), by=vendor.actor, key="first")
        services.cancel(receipt.submission_id, by=vendor.actor)
        again = vendor.api.post("submissions", world.body_of(vendor.order(task_set, harness, version)))
        assert again.status == 202

    def test_another_organisation_sees_no_difference(self, vendor: Vendor, other: Vendor) -> None:
        task_set = world.task_set()
        self.twice(vendor, task_set, "complete")
        harness = other.harness()
        order = other.order(task_set, harness, other.version(harness, "1.0"))
        known = other.api.post("submissions", world.body_of(order))
        assert (known.status, known.body["note"]) == (202, "admitted")
        assert known.body["package_digest"] == Submission.objects.order_by("id")[0].package_digest

    def test_a_version_has_one_package(self, vendor: Vendor) -> None:
        task_set = world.task_set(in_flight=9)
        harness = vendor.harness()
        version = vendor.version(harness, "1.0")
        services.submit(vendor.order(task_set, harness, version), by=vendor.actor, key="first")
        changed = bundle("probe", "1.0", {"run.py": b"print('changed')"})
        body = world.body_of(
            vendor.order(task_set, harness, version), upload=str(vendor.upload(version, changed).id)
        )
        answer = vendor.api.post("submissions", body)
        assert (answer.status, answer.code, answer.body["version"]) == (409, "version_taken", "1.0")
