"""A preflight on its own: who may start one, what it costs, what it shows, and that it is never a submission."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from accounts import services as accounts
from accounts.notices.models import Notice
from benchmark.models import TaskSetVersion
from config import clock
from evaluation.models import EvaluationRun
from submissions import queries, services
from submissions.models import Harness, Slot, Submission, Upload
from submissions.problems import Refused
from tests.factories import saved
from tests.submissions import outcomes, world
from tests.submissions.bundles import bundle
from tests.submissions.world import Answer, Vendor

pytestmark = [pytest.mark.django_db, pytest.mark.acceptance("access:1")]


def ask(vendor: Vendor, order: queries.Order, **extra: Any) -> Answer:
    return vendor.api.post("preflights", world.body_of(order), **extra)


def started(vendor: Vendor, order: queries.Order) -> Submission:
    answer = ask(vendor, order)
    assert answer.status == 202, answer.body
    return Submission.of_any_scope.get(pk=answer.body["id"])


def ended(preflight: Submission, *, crashed: int = 0) -> Submission:
    """Checked and run, `crashed` of its runs without artefact or reply."""
    services.check(preflight.id)
    preflight.refresh_from_db()
    assert preflight.preflight_run is not None
    outcomes.public_results(preflight.preflight_run, crashed=crashed)
    services.advance_run(preflight.preflight_run.id)
    preflight.refresh_from_db()
    return preflight


def test_who_is_under_review_runs_the_public_tasks_and_nothing_else(task_set: TaskSetVersion) -> None:
    vendor = world.vendor(verified=False)
    order = vendor.order(task_set, vendor.harness())
    assert vendor.api.post("submissions", world.body_of(order)).code == "organisation_not_verified"
    before = vendor.api.get("quota").body["task_sets"][0]["harnesses"][0]
    answer = ask(vendor, order)
    assert (answer.status, answer.body["note"]) == (202, "preflight_admitted")
    assert answer.headers["Location"] == answer.body["url"] == f"/api/v1/preflights/{answer.body['id']}"
    place = f"preflights/{answer.body['id']}"
    waiting = vendor.api.get(place).body
    assert (waiting["state"], waiting["run"]["state"]) == ("created", "not_started")
    found = ended(Submission.of_any_scope.get(pk=answer.body["id"]))
    shown = vendor.api.get(place).body
    states = [moment["state"] for moment in shown["timeline"]]
    assert states == ["created", "checking", "preflight", "preflight_passed"]
    assert (shown["run"]["total"], shown["run"]["done"], shown["failure_class"]) == (8, 8, None)
    runs = vendor.api.get(f"{place}/runs").body["runs"]
    assert {run["stdout"] for run in runs} == {f"log of {run['task']}" for run in runs}
    assert list(EvaluationRun.objects.values_list("kind", "total")) == [("preflight", 8)]
    assert not Slot.objects.exists()
    assert (found.cooldown_until, found.canary_run, found.held_out_run) == (None, None, None)
    after = vendor.api.get("quota").body["task_sets"][0]["harnesses"][0]
    used = {row["counter"]: row["used"] for row in after["counters"]}
    assert used == {row["counter"]: row["used"] for row in before["counters"]} | {"preflight": 1}


def test_it_waits_in_the_queue_as_the_preflight_of_a_submission_does(
    vendor: Vendor, task_set: TaskSetVersion
) -> None:
    other = world.vendor(verified=False)
    services.check(started(other, other.order(task_set, other.harness())).id)
    services.check(vendor.submit(task_set, vendor.harness()).id)
    alone, ours = EvaluationRun.objects.order_by("created_at").values(
        "kind", "state", "priority", "runs_per_task", "total"
    )
    assert alone == ours
    assert alone["kind"] == "preflight"


def test_it_is_no_submission_for_anybody(vendor: Vendor, other: Vendor, task_set: TaskSetVersion) -> None:
    found = started(vendor, vendor.order(task_set, vendor.harness()))
    assert vendor.api.get("submissions").body["submissions"] == []
    assert [row["id"] for row in vendor.api.get("preflights").body["preflights"]] == [str(found.id)]
    assert other.api.get("preflights").body["preflights"] == []
    missing = other.api.get(f"preflights/{uuid.uuid4()}")
    for end in ("", "/runs"):
        foreign = other.api.get(f"preflights/{found.id}{end}")
        assert (foreign.status, foreign.body) == (404, missing.body)
    assert other.api.post(f"preflights/{found.id}/cancel").body == missing.body
    for end in ("", "/result", "/receipt", "/preflight"):
        assert vendor.api.get(f"submissions/{found.id}{end}").status == 404
    submission = other.submit(task_set, other.harness())
    assert other.api.get(f"preflights/{submission.id}").body == missing.body
    assert queries.in_flight_of(vendor.organisation) == [found]


def test_runs_show_on_ticks_only(vendor: Vendor, task_set: TaskSetVersion, settings: Any) -> None:
    """How soon each one comes tells what else the machine does: another harness's held-out episodes, say."""
    settings.PROGRESS_TICK_SECONDS = 900
    hour = clock.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    with clock.frozen(hour + timedelta(minutes=1)):
        found = started(vendor, vendor.order(task_set, vendor.harness()))
        services.check(found.id)
        run = EvaluationRun.objects.get()
        outcomes.public_results(run)
        run.refresh_from_db()
        run.ended_at = clock.now()
        saved(run)
    place = f"preflights/{found.id}"
    for minutes in (2, 14):
        with clock.frozen(hour + timedelta(minutes=minutes)):
            services.advance(found.id)
            shown = vendor.api.get(place).body
            assert (shown["state"], shown["run"]["state"]) == ("preflight", "executing")
            assert (shown["run"]["done"], vendor.api.get(f"{place}/runs").body["runs"]) == (0, [])
    with clock.frozen(hour + timedelta(minutes=15)):
        services.advance(found.id)
        shown = vendor.api.get(place).body
    assert (shown["state"], shown["run"]["done"]) == ("preflight_passed", 8)


def test_an_unchanged_state_is_answered_by_its_tag(vendor: Vendor, task_set: TaskSetVersion) -> None:
    place = f"preflights/{started(vendor, vendor.order(task_set, vendor.harness())).id}"
    tag = vendor.api.get(place).headers["ETag"]
    assert vendor.api.get(place, headers={"if-none-match": tag}).status == 304


@pytest.mark.parametrize("crashed", [1, 2])
def test_it_fails_by_the_measure_of_every_preflight(
    crashed: int, vendor: Vendor, task_set: TaskSetVersion
) -> None:
    found = ended(started(vendor, vendor.order(task_set, vendor.harness())), crashed=crashed)
    body = vendor.api.get(f"preflights/{found.id}").body
    assert body["state"] == ("preflight_passed" if crashed == 1 else "preflight_failed")
    assert body["run"]["crashed"] == crashed
    told = Notice.objects.get(subject=str(found.id))
    assert told.kind == ("preflight.passed" if crashed == 1 else "preflight.failed")


def test_a_refused_package_says_why(vendor: Vendor, harness: Harness, task_set: TaskSetVersion) -> None:
    version = vendor.version(harness)
    upload = vendor.upload(version, bundle("somebody-else", version.version))
    found = started(vendor, queries.Order(vendor.organisation, version, task_set, upload))
    services.check(found.id)
    body = vendor.api.get(f"preflights/{found.id}").body
    assert (body["state"], body["failure_class"]) == ("rejected", "intake")
    assert Notice.objects.get(subject=str(found.id)).kind == "preflight.ended"


def test_cancelling_counts_as_a_preflight_and_as_nothing_else(
    vendor: Vendor, task_set: TaskSetVersion
) -> None:
    harness = vendor.harness()
    found = started(vendor, vendor.order(task_set, harness))
    for _ in range(2):
        answer = vendor.api.post(f"preflights/{found.id}/cancel")
        assert (answer.status, answer.body["state"]) == (200, "cancelled")
        assert answer.body["outcome"]["code"] == "preflight_cancelled"
    services.check(found.id)
    assert not EvaluationRun.objects.exists()
    late = vendor.api.post(f"preflights/{ended(started(vendor, vendor.order(task_set, harness))).id}/cancel")
    assert (late.status, late.code) == (409, "move_not_possible")


def expire(vendor: Vendor) -> None:
    vendor.organisation.verified_until = clock.now() - timedelta(days=1)
    saved(vendor.organisation)


def suspend(vendor: Vendor) -> None:
    accounts.suspend_organisation(vendor.organisation, by=world.BY)


def suspend_person(vendor: Vendor) -> None:
    accounts.suspend_user(vendor.user, by=world.BY)


@pytest.mark.parametrize(
    ("arrange", "code"),
    [
        (expire, ""),
        (suspend, "organisation_suspended"),
        (suspend_person, "account_suspended"),
    ],
)
def test_who_may(arrange: Any, code: str, task_set: TaskSetVersion) -> None:
    vendor = world.vendor()
    order = vendor.order(task_set, vendor.harness())
    arrange(vendor)
    if not code:
        assert services.start_preflight(order, by=vendor.actor, key="k").status == 202
        return
    with pytest.raises(Refused) as caught:
        services.start_preflight(order, by=vendor.actor, key="k")
    assert caught.value.refusal.code == code
    assert not Submission.of_any_scope.exists()


def test_a_second_factor_is_needed(vendor: Vendor, task_set: TaskSetVersion) -> None:
    from allauth.mfa.models import Authenticator

    order = vendor.order(task_set, vendor.harness())
    Authenticator.objects.filter(user=vendor.user).delete()
    with pytest.raises(Refused) as caught:
        services.start_preflight(order, by=vendor.actor, key="k")
    assert caught.value.refusal.code == "mfa_required"


@pytest.mark.parametrize(
    ("scope", "start", "look"), [("preflight", 202, 200), ("submit", 202, 403), ("read", 403, 200)]
)
def test_what_a_token_may_follows_its_scopes(
    scope: str, start: int, look: int, task_set: TaskSetVersion
) -> None:
    vendor = world.vendor(scopes=[scope])
    answer = ask(vendor, vendor.order(task_set, vendor.harness()))
    assert answer.status == start
    assert vendor.api.get("preflights").status == look
    if start == 202:
        assert vendor.api.post(f"preflights/{answer.body['id']}/cancel").status == 200
        assert Submission.of_any_scope.get().state == "cancelled"


def test_the_same_request_is_one_preflight(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    order = vendor.order(task_set, harness)
    first, again = (ask(vendor, order, key="one") for _ in range(2))
    assert (first.status, first.body) == (again.status, again.body)
    assert Submission.of_any_scope.count() == 1
    assert ask(vendor, vendor.order(task_set, harness), key="one").code == "idempotency_conflict"
    assert ask(vendor, order, key="").code == "idempotency_key_required"


def test_the_upload_is_submitted_afterwards_and_nothing_is_remembered(
    vendor: Vendor, harness: Harness, task_set: TaskSetVersion
) -> None:
    order = vendor.order(task_set, harness)
    first = started(vendor, order)
    while_it_runs = vendor.api.post("submissions", world.body_of(order))
    assert (while_it_runs.status, while_it_runs.code) == (429, "in_flight")
    ended(first)
    ended(started(vendor, order))
    assert Upload.objects.get(pk=order.upload.pk).state == "complete"
    other_package = bundle(harness.name, order.harness_version.version, {"run.py": b"print('changed')\n"})
    changed = vendor.upload(order.harness_version, other_package)
    answer = vendor.api.post("submissions", world.body_of(order, upload=str(changed.id)))
    assert (answer.status, answer.body["note"]) == (202, "admitted")
    busy = ask(vendor, order)
    assert (busy.status, busy.code) == (429, "in_flight")
    services.cancel(uuid.UUID(answer.body["id"]), by=vendor.actor)
    answer = vendor.api.post("submissions", world.body_of(order))
    assert (answer.status, answer.body["note"]) == (202, "admitted")
    assert Submission.objects.count() == 2
    services.cancel(uuid.UUID(answer.body["id"]), by=vendor.actor)
    assert ask(vendor, order).code == "upload_used"


def test_the_ceiling_counts_those_on_their_own_and_those_of_submissions(
    vendor: Vendor, harness: Harness
) -> None:
    task_set = world.task_set(preflight=3)
    order = vendor.order(task_set, harness)
    first = ended(started(vendor, order))
    services.cancel(vendor.submit(task_set, harness).id, by=vendor.actor)
    lost = started(vendor, order)
    services.abort_upload(order.upload.id, by=vendor.actor)
    services.check(lost.id)
    lost.refresh_from_db()
    assert (lost.state, lost.reason_code) == ("voided", "upload_missing")
    order = vendor.order(task_set, harness)
    ended(started(vendor, order), crashed=8)
    refused = ask(vendor, order)
    assert (refused.status, refused.code) == (429, "preflight_ceiling")
    facts = {name: refused.body[name] for name in ("policy", "counter", "used", "limit")}
    assert facts == {"policy": "demo", "counter": "preflight", "used": 3, "limit": 3}
    until = first.admitted_at + timedelta(days=7)
    assert refused.body["next_allowed_at"] == until.isoformat()
    assert vendor.api.post("submissions", world.body_of(order)).code == "preflight_ceiling"
    with clock.frozen(until):
        later = vendor.order(task_set, harness)
        assert services.start_preflight(later, by=vendor.actor, key="later").status == 202


def test_a_lineage_has_one_at_a_time_however_many_harnesses_it_registers(vendor: Vendor) -> None:
    task_set = world.task_set()
    first, second = (vendor.order(task_set, vendor.harness(name)) for name in ("one", "two"))
    found = started(vendor, first)
    refused = ask(vendor, second)
    assert (refused.status, refused.code) == (429, "preflights_in_flight")
    facts = {
        name: refused.body[name] for name in ("policy", "counter", "used", "limit", "next_allowed_reason")
    }
    assert facts == {
        "policy": "demo",
        "counter": "preflights_in_flight",
        "used": 1,
        "limit": 1,
        "next_allowed_reason": "when_the_submission_in_flight_ends",
    }
    assert vendor.api.post("submissions", world.body_of(second)).status == 202, (
        "other harnesses submit meanwhile"
    )
    services.cancel(Submission.objects.get().id, by=vendor.actor)
    ended(found)
    assert ask(vendor, vendor.order(task_set, second.harness_version.harness)).status == 202


def test_spent_uses_cooldown_and_stops_are_no_matter(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(line=1, cooldown_seconds=9 * 24 * 3600)
    done = outcomes.bring_to(vendor.submit(task_set, harness), "running")
    services.cancel(done.id, by=vendor.actor)
    services.stop_admission(task_set, cause="leak_budget_spent", lineage=None, until=None, by=world.BY)
    version = vendor.version(harness)
    data = bundle(harness.name, version.version)
    order = queries.Order(vendor.organisation, version, task_set, vendor.upload(version, data))
    assert vendor.api.post("submissions", world.body_of(order)).status in (403, 429)
    assert ask(vendor, order).status == 202
    counters = vendor.api.get("quota").body["task_sets"][0]["harnesses"][0]["counters"]
    assert {row["counter"]: row["used"] for row in counters}["line"] == 1


def test_bytes_stay_until_the_check_and_leave_afterwards(vendor: Vendor, task_set: TaskSetVersion) -> None:
    order = vendor.order(task_set, vendor.harness())
    at = order.upload.expires_at
    with clock.frozen(at - timedelta(minutes=1)):
        receipt = services.start_preflight(order, by=vendor.actor, key="k")
    with clock.frozen(at + timedelta(minutes=1)):
        services.sweep()
        assert Upload.objects.get(pk=order.upload.pk).removed_at is None
        services.check(receipt.submission_id)
        services.sweep()
    upload = Upload.objects.get(pk=order.upload.pk)
    assert (upload.state, upload.removed_at is None) == ("expired", False)
    assert Submission.of_any_scope.get().state == "preflight"


def test_what_the_platform_does_not_take_up_is_not_counted(vendor: Vendor, harness: Harness) -> None:
    task_set = world.task_set(preflight=1)
    found = started(vendor, vendor.order(task_set, harness))
    with clock.shifted(timedelta(hours=25)):
        assert services.advance(found.id) == "cancelled"
        assert (
            services.start_preflight(vendor.order(task_set, harness), by=vendor.actor, key="k").status == 202
        )
    body = vendor.api.get(f"preflights/{found.id}").body
    assert (body["failure_class"], body["outcome"]["code"]) == ("platform", "deadline_created")
