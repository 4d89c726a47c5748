"""What engineers see of a submission's runs and do about them; what its vendor sees of the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import translation

from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from accounts.models import Membership
from config import clock
from evaluation import claims
from evaluation.claims import Finish
from evaluation.fleet.models import EpisodeQuarantine, FleetOrder, Pause
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, TaskResult, WorkerReport
from submissions import services
from submissions.models import Submission
from submissions.problems import Refused
from submissions.services.staffing import rerun_failed
from tests.accounts.duties import Office, acting, opened
from tests.audit.test_log import Connect
from tests.factories import BY, saved
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import outcomes, world

pytestmark = pytest.mark.django_db
CAUSE = "store_or_disk"


def running(vendor: world.Vendor) -> Submission:
    return outcomes.bring_to(vendor.submit(world.task_set(), vendor.harness()), "running")


def lost(submission: Submission, count: int = 2) -> EvaluationRun:
    """Its held-out run ended: `count` episodes failed technically, after an attempt each, the others are graded."""
    run = submission.held_out_run
    assert run is not None
    outcomes.lose(run, count)
    Episode.objects.filter(run=run).update(fence=1)
    for episode in Episode.objects.filter(run=run):
        ending, cause = (Ending.INFRASTRUCTURE_FAULT, CAUSE)
        if episode.state == Episode.State.GRADED:
            ending, cause = Ending.BUDGET_EXHAUSTED, "seconds"
        attempt = saved(
            Attempt(
                episode=episode,
                number=1,
                fence=1,
                worker="w-1",
                started_at=clock.now(),
                ended_at=clock.now(),
                ending=ending,
                cause=cause,
            )
        )
        if episode.state == Episode.State.GRADED:
            TaskResult.objects.create(
                episode=episode,
                attempt=attempt,
                score="1",
                success=True,
                ending=ending,
                seconds=1.0,
                grader_version="1",
                graded_at=clock.now(),
            )
    run.refresh_from_db()
    return run


@pytest.fixture
def office(db: None) -> Office:
    return opened()


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H13")
@pytest.mark.django_db(transaction=True)
def test_a_rerun_selects_exactly_what_failed_technically_and_names_it(connect_as: Connect) -> None:
    vendor, engineer = world.vendor(), opened().holder(Duty.EVALUATION_ENGINEER)
    submission = running(vendor)
    run = lost(submission)
    failed = Episode.objects.filter(run=run, state=Episode.State.UNAVAILABLE)
    pairs = set(failed.values_list("task", "run_index"))
    names = sorted(key.hex for key in Attempt.objects.filter(episode__in=failed).values_list("pk", flat=True))
    valid = set(TaskResult.objects.filter(episode__run=run).values_list("pk", "attempt"))
    slot = submission.slot.state
    assert rerun_failed(submission.id, reason="the store was down", by=acting(engineer)) == 2
    again = Episode.objects.filter(run=run, state=Episode.State.READY)
    assert set(again.values_list("task", "run_index")) == pairs
    assert set(TaskResult.objects.filter(episode__run=run).values_list("pk", "attempt")) == valid
    submission.slot.refresh_from_db()
    assert submission.slot.state == slot
    rows = connect_as("auditor").execute(
        "SELECT convert_from(body, 'UTF8')::json -> 'data' FROM audit_event WHERE kind = 'submission.rerun_ordered'"
    )
    (facts,) = [row[0] for row in rows.fetchall()]
    assert (facts["attempts"], facts["count"], facts["run"]) == (names, 2, str(run.id))
    waiting = set(again.values_list("pk", flat=True))
    taken = [claims.claim_execution("w") for _ in range(3)]
    assert {claim.episode_id for claim in taken if claim} == waiting
    assert taken[2] is None


def test_a_rerun_needs_the_duty_a_reason_and_something_lost(office: Office, vendor: world.Vendor) -> None:
    engineer, governor = (office.holder(duty) for duty in (Duty.EVALUATION_ENGINEER, Duty.HELD_OUT_GOVERNOR))
    submission = running(vendor)
    with pytest.raises(Refused, match="nothing_to_rerun"):
        rerun_failed(submission.id, reason="why not", by=acting(engineer))
    lost(submission)
    for by, reason in ((acting(governor), "down"), (acting(engineer), " ")):
        with pytest.raises(DutyRefused):
            rerun_failed(submission.id, reason=reason, by=by)
    assert rerun_failed(submission.id, reason="down", by=acting(engineer)) == 2
    with pytest.raises(Refused, match="nothing_to_rerun"):
        rerun_failed(submission.id, reason="again", by=acting(engineer))


def address(name: str, *arguments: object) -> str:
    with translation.override("en"):
        return reverse(name, args=arguments)


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("G23")
def test_engineers_see_each_run_that_failed_with_step_attempt_age_and_cause_but_no_task(
    office: Office, vendor: world.Vendor
) -> None:
    submission = running(vendor)
    run = lost(submission)
    browser = signed_in(office.holder(Duty.EVALUATION_ENGINEER))
    services.advance(submission.id)  # the platform repeats at once, and says when it would again
    for _ in range(2 * (settings.EPISODE_RETRIES + 1)):
        claim = claims.claim_execution("w-2")
        if claim is not None:
            claims.finish_attempt(claim, Finish(ending=Ending.INFRASTRUCTURE_FAULT, cause=CAUSE), by=BY)
    page = browser.get(address("console:submission", submission.id)).content.decode()
    for episode in Episode.objects.filter(run=run, state=Episode.State.UNAVAILABLE):
        latest = episode.tries.order_by("-number")[0]
        assert latest.id.hex[:8] in page
    assert page.count(f">{CAUSE}</code>") >= 2
    assert "Next re-run due" in page
    assert "Then the vendor chooses" in page
    for slug in run.version.tasks.values_list("slug", flat=True):
        assert slug not in page
    listed = browser.get(address("console:submissions")).content.decode()
    assert address("console:submission", submission.id) in listed


@pytest.mark.case("G23")
def test_the_vendor_sees_no_attempt_and_no_cause_of_held_out_runs(vendor: world.Vendor) -> None:
    submission = running(vendor)
    run = lost(submission)
    browser = signed_in(vendor.user)
    shown = [
        browser.get(f"/en/v/submissions/{submission.id}/").content.decode(),
        browser.get(f"/en/v/submissions/{submission.id}/preflight/").content.decode(),
        str(vendor.api.get(f"submissions/{submission.id}").body),
        str(vendor.api.get(f"submissions/{submission.id}/preflight").body),
    ]
    for attempt in Attempt.objects.filter(episode__run=run):
        for text in (str(attempt.id), attempt.id.hex, CAUSE, "w-1"):
            assert all(text not in page for page in shown)
    assert "crashed" in shown[3], "of a preflight everything is shown, counts by cause among it"
    assert browser.get(address("console:submission", submission.id)).status_code == 404


def test_only_engineers_of_nobody_concerned_come_in(office: Office, vendor: world.Vendor) -> None:
    submission = running(vendor)
    engineer = office.holder(Duty.EVALUATION_ENGINEER)
    assert signed_in(engineer).get(address("console:submission", submission.id)).status_code == 200
    for duty in (Duty.HELD_OUT_GOVERNOR, Duty.ADMINISTRATOR, Duty.TASK_AUTHOR):
        found = signed_in(office.holder(duty)).get(address("console:submission", submission.id))
        assert found.status_code == 404
    assert Membership.objects.filter(user=engineer).count() == 0


def post(browser: Any, name: str, *arguments: object, reason: str = "the rack is moved") -> Any:
    return browser.post(address(name, *arguments), {"reason": reason})


def test_switches_are_turned_on_a_page_of_their_own_by_whose_they_are(office: Office) -> None:
    engineer, governor = (
        signed_in(office.holder(duty)) for duty in (Duty.EVALUATION_ENGINEER, Duty.HELD_OUT_GOVERNOR)
    )
    assert post(governor, "console:switch_act", "execution", "pause").status_code == 404
    assert post(engineer, "console:switch_act", "release", "pause").status_code == 404
    assert post(engineer, "console:switch_act", "execution", "pause", reason="").status_code == 422
    assert not Pause.objects.exists()
    for switch, browser in (("intake", engineer), ("execution", engineer), ("release", governor)):
        assert post(browser, "console:switch_act", switch, "pause").status_code == 302
        page = browser.get(address("console:workers")).content.decode()
        assert "the rack is moved" in page
        assert address("console:switch_act", switch, "resume") in page
        assert post(browser, "console:switch_act", switch, "resume").status_code == 302
        assert Pause.objects.get(switch=switch).lifted_at is not None


def test_workers_and_hosts_are_drained_and_let_go_on(office: Office) -> None:
    browser = signed_in(office.holder(Duty.EVALUATION_ENGINEER))
    now = clock.now()
    WorkerReport.objects.create(
        worker="w-7",
        queue="execute",
        host="rack-1",
        grade="x",
        passed=False,
        report={
            "probes": [{"name": "no_network", "where": "agent", "result": "fail", "detail": "TCP went out"}]
        },
        started_at=now,
        seen_at=now,
    )
    page = browser.get(address("console:workers")).content.decode()
    for text in (
        "rack-1",
        "w-7",
        "takes no work",
        "TCP went out",
        address("console:fleet_order", "drain", "host", "rack-1"),
    ):
        assert text in page, text
    assert post(browser, "console:fleet_order", "drain", "worker", "w-7").status_code == 302
    order = FleetOrder.objects.get()
    assert (order.kind, order.scope, order.name, order.reason) == (
        "drain",
        "worker",
        "w-7",
        "the rack is moved",
    )
    page = browser.get(address("console:workers")).content.decode()
    assert "draining" in page
    assert post(browser, "console:fleet_order_lift", order.id).status_code == 302
    order.refresh_from_db()
    assert order.lifted_at is not None


def test_an_episode_is_set_apart_and_released(office: Office, vendor: world.Vendor) -> None:
    submission = running(vendor)
    browser = signed_in(office.holder(Duty.EVALUATION_ENGINEER))
    episode = Episode.objects.filter(run=submission.held_out_run).order_by("position")[0]
    answer = post(browser, "console:episode_quarantine", episode.pk)
    assert answer.headers["Location"] == address("console:submission", submission.id)
    row = EpisodeQuarantine.objects.get()
    page = browser.get(address("console:submission", submission.id)).content.decode()
    assert address("console:episode_release", row.id) in page
    assert "set apart" in page
    assert post(browser, "console:episode_release", row.id).status_code == 302
    episode.refresh_from_db()
    assert episode.state == Episode.State.READY


def test_queues_and_leases_stand_on_the_fleets_page(office: Office, vendor: world.Vendor) -> None:
    running(vendor)
    now = clock.now()
    WorkerReport.objects.create(
        worker="w-1", queue="execute", host="h", grade="x", passed=True, started_at=now, seen_at=now
    )
    assert claims.claim_execution("w-1") is not None
    with clock.shifted(timedelta(minutes=3)):
        page = site.signed_in(office.holder(Duty.EVALUATION_ENGINEER)).get(address("console:workers"))
    text = " ".join(page.content.decode().split())
    assert "<dt>Leases held</dt><dd>1" in text
    assert "3 minutes ago" in text
