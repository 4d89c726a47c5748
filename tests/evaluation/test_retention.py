"""What attempts left lies once, compressed, and goes at its date: by class, on record, not while it is needed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings

from accounts.duties.table import Duty
from config import clock, store, vault
from evaluation import packages
from evaluation.models import ArtefactPurge, Attempt, Ending, Episode, EvaluationRun, PurgedArtefact
from evaluation.retention import services as stored
from governance import retention
from governance.desk import services as desk
from submissions.models import Submission
from tests.accounts.duties import acting, opened
from tests.audit.test_log import Connect
from tests.factories import BY, recorded, saved
from tests.governance.appeals.arranged import filed as appealed
from tests.governance.desk.arranged import open_case
from tests.pages import site
from tests.submissions import outcomes, world

pytestmark = pytest.mark.django_db
DAYS = settings.RETENTION_DAYS


@pytest.fixture(autouse=True)
def _empty_bucket(settings: Any) -> Iterator[None]:
    yield
    keys = [key for key, _, _ in store.listed(settings.S3_BUCKET_SEALED, packages.ARTEFACTS + "/")]
    store.delete_many(settings.S3_BUCKET_SEALED, keys)


def keys() -> set[str]:
    return {key for key, _, _ in store.listed(settings.S3_BUCKET_SEALED, packages.ARTEFACTS + "/")}


def leave(
    run: EvaluationRun | None, data: bytes = b"left" * 1000, *, number: int = 1, count: int = 1
) -> list[Attempt]:
    """Attempts of the first episodes of a run that left `data`, each a little different where there are several."""
    assert run is not None
    try:
        packages.submission_key(run.package)
    except vault.SealBroken:  # arranged without workers
        run.package.wrapped_submission_key = vault.wrap(vault.new_key(), under=packages.worker_key())
        run.package.save()
    found = []
    for at, episode in enumerate(Episode.objects.filter(run=run).order_by("position")[:count]):
        key = packages.store_artefacts(run.package, data + b"%d" % at)
        attempt = Attempt(
            episode=episode,
            number=number,
            fence=number,
            worker="w",
            started_at=clock.now(),
            ended_at=clock.now(),
            ending=Ending.FINISHED,
            artefact_key=key,
            artefact_sha256=f"{at:064x}",
        )
        found.append(saved(attempt))
    return found


def complete(vendor: world.Vendor, version: Any) -> Submission:
    """A released submission whose preflight, canary and held-out run each left something."""
    found = site.moved(vendor.submit(version, vendor.harness()), *site.TO_COMPLETE)
    site.release(found)
    found = Submission.objects.get(pk=found.pk)
    for run in (found.preflight_run, found.canary_run, found.held_out_run):
        if run is not None:
            with recorded(run):
                EvaluationRun.objects.filter(pk=run.pk).update(state="ended", ended_at=found.ended_at)
    return found


def test_the_same_bytes_of_a_submission_lie_once_and_are_read_as_they_were(vendor: world.Vendor) -> None:
    version = site.task_set(in_flight=9)
    one = outcomes.bring_to(vendor.submit(version, vendor.harness()), "queued")
    other = outcomes.bring_to(vendor.submit(version, vendor.harness("other")), "queued")
    data = b"a" * 100_000 + random.Random(1).randbytes(1000)
    assert one.package is not None
    assert other.package is not None
    first, second = (packages.store_artefacts(one.package, data) for _ in range(2))
    elsewhere = packages.store_artefacts(other.package, data)
    assert first == second
    assert keys() == {first, elsewhere}
    assert first.rpartition("/")[2] != elsewhere.rpartition("/")[2], "names tell nothing across submissions"
    assert packages.load_artefacts(one.package, first) == data
    assert store.size_of(settings.S3_BUCKET_SEALED, first) < 3000


def test_artefacts_of_before_compression_are_read_too(vendor: world.Vendor) -> None:
    one = outcomes.bring_to(vendor.submit(site.task_set(), vendor.harness()), "queued")
    assert one.package is not None
    key = packages.submission_key(one.package)
    store.put_sealed_bytes(settings.S3_BUCKET_SEALED, "artefacts/old", b"ending.json and so on", under=key)
    assert packages.load_artefacts(one.package, "artefacts/old") == b"ending.json and so on"


@pytest.mark.django_db(transaction=True)
def test_each_class_goes_at_its_date_once_and_on_record(vendor: world.Vendor, connect_as: Connect) -> None:
    found = complete(vendor, site.task_set())
    tried, scored = leave(found.preflight_run, count=2), leave(found.held_out_run, b"held out")
    end = found.ended_at
    assert end is not None
    with clock.frozen(end + timedelta(days=DAYS["preflight"] - 1)):
        assert set(retention.purge(by=BY).values()) == {0}
    with clock.frozen(end + timedelta(days=DAYS["preflight"], minutes=1)):
        assert retention.purge(by=BY) == {"preflight": 2, "held_out": 0, "failed": 0, "unclaimed": 0}
        assert set(retention.purge(by=BY).values()) == {0}
    assert keys() == {scored[0].artefact_key}
    with clock.frozen(end + timedelta(days=DAYS["held_out"], minutes=1)):
        assert retention.purge(by=BY)["held_out"] == 1
    assert not keys()
    assert set(PurgedArtefact.objects.values_list("attempt", flat=True)) == {
        row.pk for row in (*tried, *scored)
    }
    assert Attempt.objects.get(pk=scored[0].pk).artefact_sha256 == scored[0].artefact_sha256
    rows = connect_as("auditor").execute(
        "SELECT convert_from(body, 'UTF8')::json -> 'data' FROM audit_event WHERE kind = 'artefacts.purged' ORDER BY id"
    )
    facts = [row[0] for row in rows.fetchall()]
    assert [(row["retention"], row["count"]) for row in facts] == [("preflight", 2), ("held_out", 1)]
    first = ArtefactPurge.objects.get(kind="preflight")
    assert facts[0]["digest"] == first.digest == stored.digest_of([row.artefact_sha256 for row in tried])
    assert facts[0]["size"] == first.size > 0


@pytest.mark.parametrize("why", ["appeal", "hold", "case"])
def test_what_somebody_needs_stays_as_long_as_they_do(why: str, vendor: world.Vendor) -> None:
    version, governor = site.task_set(in_flight=9), opened().holder(Duty.HELD_OUT_GOVERNOR)
    if why == "hold":
        found = outcomes.bring_to(vendor.submit(version, vendor.harness()), "grading")
        desk.place_hold(found, rule="contrast", alarms=[], by=BY)
    else:
        found = complete(vendor, version)
    left = leave(found.preflight_run)
    if why == "appeal":
        appealed(vendor, version, subject="fault", submission=found)
    if why == "case":
        open_case(vendor, version, governor)
    run = found.preflight_run
    assert run is not None
    with recorded(run):
        EvaluationRun.objects.filter(pk=run.pk).update(ended_at=clock.now())
    assert found.pk in retention.needed()
    with clock.shifted(timedelta(days=400)):
        assert set(retention.purge(by=BY).values()) == {0}
    assert keys() == {left[0].artefact_key}
    if why == "hold":
        desk.release_early(found, reason="seen", by=acting(governor))
        assert found.pk not in retention.needed()
        with clock.shifted(timedelta(days=400)):
            assert retention.purge(by=BY)["preflight"] == 1
        assert not keys()


def test_attempts_that_gave_no_result_and_objects_that_nobody_names_go_after_two_weeks(
    vendor: world.Vendor,
) -> None:
    found = outcomes.bring_to(vendor.submit(site.task_set(), vendor.harness()), "running")
    run = found.held_out_run
    assert run is not None
    lost = leave(run, b"first try", number=1)
    again = leave(run, b"second try", number=2)
    orphan = packages.store_artefacts(run.package, b"of a worker that lost its claim")
    with clock.shifted(timedelta(days=13)):
        assert set(retention.purge(by=BY).values()) == {0}
    with clock.shifted(timedelta(days=15)):
        assert retention.purge(by=BY) == {"preflight": 0, "held_out": 0, "failed": 1, "unclaimed": 1}
    assert orphan not in keys()
    assert keys() == {again[0].artefact_key}
    assert PurgedArtefact.objects.get().attempt == lost[0]


def test_bytes_that_another_attempt_names_too_stay(vendor: world.Vendor) -> None:
    found = outcomes.bring_to(vendor.submit(site.task_set(), vendor.harness()), "running")
    first, second = leave(found.held_out_run, b"same", number=1), leave(found.held_out_run, b"same", number=2)
    assert first[0].artefact_key == second[0].artefact_key
    with clock.shifted(timedelta(days=15)):
        assert retention.purge(by=BY)["failed"] == 1
    assert keys() == {second[0].artefact_key}


def test_a_purge_that_fails_half_way_is_made_again(
    vendor: world.Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = complete(vendor, site.task_set())
    leave(found.preflight_run)

    def refuse(*args: object, **more: object) -> None:
        raise RuntimeError("the log is full")

    with clock.shifted(timedelta(days=31)):
        with monkeypatch.context() as patched:
            patched.setattr(stored.log, "append", refuse)
            with pytest.raises(RuntimeError):
                retention.purge(by=BY)
        assert not PurgedArtefact.objects.exists()
        assert retention.purge(by=BY)["preflight"] == 1


@pytest.fixture
def vendor(db: None) -> world.Vendor:
    return world.vendor()
