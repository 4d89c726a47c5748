"""Switches, drains and quarantines: what stops while an order stands, what goes on, and who may give it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from audit.events import Actor, system
from config import clock
from evaluation import claims, services
from evaluation.claims import Finish
from evaluation.fleet import queries as orders
from evaluation.fleet import services as fleet
from evaluation.fleet.models import EpisodeQuarantine, FleetOrder, Pause, Switch
from evaluation.models import Attempt, Ending, Episode, EvaluationRun
from governance import tasks as governance
from governance.models import Release
from submissions.models import Submission
from tests.accounts.duties import acting, opened
from tests.audit.test_log import Connect
from tests.factories import BY, frozen_version, run_of
from tests.governance.analysing import evaluated, version_of_three
from tests.submissions import world

pytestmark = pytest.mark.django_db

ONE = {"general": (1, 1)}
TWO = {"general": (1, 2)}
WHY = "a disk is being exchanged"
OPS = system("operator")
FINISHED = Finish(
    ending=Ending.FINISHED, exit_code=0, seconds=1.0, artefact_key="a", artefact_sha256="0" * 64
)


@pytest.fixture
def engineer() -> Actor:
    return acting(opened().holder(Duty.EVALUATION_ENGINEER))


def test_while_intake_is_paused_nothing_new_is_admitted_and_both_languages_say_so(engineer: Actor) -> None:
    vendor, task_set = world.vendor(), world.task_set()
    order = vendor.order(task_set, vendor.harness())
    fleet.pause(Switch.INTAKE, reason=WHY, by=engineer)
    for path in ("submissions", "preflights"):
        body = world.body_of(order)
        if path == "preflights":
            body.pop("publication_consent", None)
        answer = vendor.api.post(path, body, headers={"accept-language": "en"})
        assert (answer.status, answer.code) == (503, "intake_paused"), answer.body
        assert "takes no new submissions for now. Nothing was charged." in answer.body["detail"]
        assert WHY not in json.dumps(answer.body)
    chinese = vendor.api.post("submissions", world.body_of(order), headers={"accept-language": "zh-hans"})
    assert "暂不受理" in chinese.body["detail"]
    assert not Submission.of_any_scope.exists()
    fleet.resume(Switch.INTAKE, reason="done", by=engineer)
    assert vendor.api.post("submissions", world.body_of(order)).status == 202


def test_while_execution_is_paused_no_run_is_claimed_and_what_was_executed_is_graded(engineer: Actor) -> None:
    run_of(frozen_version("fo.1", TWO))
    claim = claims.claim_execution("w")
    assert claim is not None
    fleet.pause(Switch.EXECUTION, reason=WHY, by=engineer)
    assert claims.claim_execution("w") is None
    assert claims.finish_attempt(claim, FINISHED, by=BY)
    assert claims.claim_grading("g") is not None
    fleet.resume(Switch.EXECUTION, reason="done", by=engineer)
    assert claims.claim_execution("w") is not None


def test_while_releases_are_paused_a_tick_releases_nothing() -> None:
    governor = acting(opened().holder(Duty.HELD_OUT_GOVERNOR))
    vendor = world.vendor()
    due = evaluated(vendor, version_of_three(), vendor.harness())
    fleet.pause(Switch.RELEASE, reason=WHY, by=governor)
    with clock.shifted(timedelta(seconds=6)):
        governance.tick()
        assert not Release.objects.exists()
        fleet.resume(Switch.RELEASE, reason="done", by=governor)
        governance.tick()
    assert Release.objects.get().submission_id == due.pk


def test_an_order_stands_once_and_is_kept_with_who_gave_and_lifted_it(engineer: Actor) -> None:
    first = fleet.pause(Switch.EXECUTION, reason=WHY, by=engineer)
    assert fleet.pause(Switch.EXECUTION, reason="again", by=OPS).pk == first.pk
    assert [(row.ordered_by, row.reason) for row in orders.standing_pauses()] == [(engineer.id, WHY)]
    fleet.resume(Switch.EXECUTION, reason="done", by=OPS)
    assert fleet.resume(Switch.EXECUTION, reason="done", by=OPS) is None
    kept = Pause.objects.get()
    assert (kept.lifted_by, kept.lift_reason, orders.standing_pauses()) == ("operator", "done", [])


def test_only_who_has_the_duty_orders_and_only_with_a_reason(engineer: Actor) -> None:
    governor = acting(opened().holder(Duty.HELD_OUT_GOVERNOR))
    run_of(frozen_version("fo.2", ONE))
    episode = Episode.objects.get()
    refused = [
        lambda: fleet.pause(Switch.RELEASE, reason=WHY, by=engineer),
        lambda: fleet.pause(Switch.INTAKE, reason=WHY, by=governor),
        lambda: fleet.pause(Switch.INTAKE, reason=" ", by=engineer),
        lambda: fleet.order_fleet("drain", "worker", "w", reason=WHY, by=governor),
        lambda: fleet.quarantine_episode(episode.pk, reason=WHY, by=governor),
        lambda: fleet.resume(Switch.INTAKE, reason=WHY, by=world.vendor().actor),
    ]
    for act in refused:
        with pytest.raises(DutyRefused):
            act()
    assert not Pause.objects.exists()
    assert not FleetOrder.objects.exists()


@pytest.mark.parametrize(("scope", "name"), [("worker", "w"), ("host", "h")])
@pytest.mark.parametrize("kind", FleetOrder.Kind.values)
def test_who_is_set_apart_claims_nothing_and_others_do(scope: str, name: str, kind: str) -> None:
    run_of(frozen_version("fo.3", TWO))
    claim = claims.claim_execution("w", host="h")
    assert claim is not None
    order = fleet.order_fleet(kind, scope, name, reason=WHY, by=OPS)
    assert claims.claim_execution("w", host="h") is None
    assert claims.finish_attempt(claim, FINISHED, by=BY)
    assert claims.claim_grading("w", host="h") is None
    assert claims.claim_grading("other", host="elsewhere") is not None
    fleet.lift_fleet_order(order.pk, reason="done", by=OPS)
    assert claims.claim_execution("w", host="h") is not None


@pytest.mark.django_db(transaction=True)
def test_the_claim_on_an_episode_that_staff_set_apart_is_void(connect_as: Connect) -> None:
    run = run_of(frozen_version("fo.4", ONE))
    claim = claims.claim_execution("w")
    assert claim is not None
    row = fleet.quarantine_episode(claim.episode_id, reason=WHY, by=OPS)
    assert row is not None
    assert row.attempt_id == claim.attempt_id
    assert not claims.finish_attempt(claim, FINISHED, by=BY)
    ended = Attempt.objects.get()
    assert (ended.ending, ended.cause) == ("infrastructure_fault", "stopped_by_staff")
    services.settle_run(run.id)
    services.settle_run(run.id)
    run.refresh_from_db()
    assert (run.state, run.missing) == (EvaluationRun.State.ENDED, 1)
    assert services.rerun_missing(run, by=BY) == 0
    fleet.release_episode(row.pk, reason="looked at", by=OPS)
    assert services.rerun_missing(run, by=BY) == 1
    told = connect_as("auditor").execute("SELECT string_agg(convert_from(body, 'UTF8'), '') FROM audit_event")
    text = told.fetchone()[0]  # type: ignore[index]
    assert '"kind":"episode.quarantined"' in text
    assert WHY not in text


@pytest.mark.case("H15")
@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (1, 2), (3, 4)])
def test_a_fault_of_ours_is_tried_again_so_many_times(settings: Any, retries: int, attempts: int) -> None:
    settings.EPISODE_RETRIES = retries
    run = run_of(frozen_version("fo.5", ONE))
    fault = Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause="store_or_disk")
    for claim in iter(lambda: claims.claim_execution("w"), None):
        claims.finish_attempt(claim, fault, by=BY)
    assert Attempt.objects.count() == attempts
    assert Episode.objects.get(run=run).state == Episode.State.UNAVAILABLE


def test_an_episode_that_takes_down_each_worker_is_quarantined_and_tried_again_when_released(
    settings: Any,
) -> None:
    settings.LEASE_SECONDS = -1.0
    run = run_of(frozen_version("fo.6", TWO))
    assert claims.claim_execution("w") is not None
    for _ in range(2 * (claims.retries() + 1)):
        claims.claim_execution("w")
        claims.reap(by=system("sweep"))
    assert set(Episode.objects.values_list("state", flat=True)) == {"quarantined"}
    assert claims.claim_execution("w") is None
    rows = orders.quarantined_episodes()
    assert {row.cause for row in rows} == {EpisodeQuarantine.Cause.POISON}
    assert Attempt.objects.filter(cause="worker_lost").count() == 2 * (claims.retries() + 1)
    fleet.release_episode(rows[0].pk, reason="the kernel was mended", by=OPS)
    assert [row.pk for row in orders.quarantined_episodes()] == [rows[1].pk]
    settings.LEASE_SECONDS = 60.0
    again = claims.claim_execution("w")
    assert again is not None
    assert (again.episode_id, again.attempts) == (rows[0].episode_id, 1)
    assert claims.finish_attempt(again, FINISHED, by=BY)
    assert services.settle_run(run.id) == EvaluationRun.State.GRADING


@pytest.mark.django_db(transaction=True)
def test_what_serves_people_learns_that_a_switch_is_off_and_not_why(connect_as: Connect) -> None:
    fleet.pause(Switch.INTAKE, reason=WHY, by=OPS)
    web = connect_as("web")
    assert web.execute("SELECT switch FROM evaluation_pause WHERE lifted_at IS NULL").fetchone() == (
        "intake",
    )
    for statement in ("SELECT reason FROM evaluation_pause", "SELECT name FROM evaluation_fleetorder"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            web.execute(statement)
