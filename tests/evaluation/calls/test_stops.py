"""An upstream is left alone only on the platform's own word, and called again when that says so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest

from audit.events import system
from config import clock
from evaluation.calls import queries, services
from evaluation.calls.models import RunModel, UpstreamDoubt, UpstreamStop, UpstreamUse
from evaluation.upstreams.models import ModelUpstream
from submissions.models import Submission
from submissions.problems import Code, Refused
from submissions.services import advance, follow_upstreams, upstreams
from tests.access.upstreams.arranged import LIMITS, Answers, serving, upstream_with_credential
from tests.factories import recorded
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
BY = system("test")


@pytest.fixture
def answers(settings: object) -> Iterator[Answers]:
    settings.OUTGOING_LOOPBACK = True  # type: ignore[attr-defined]
    with serving() as script:
        script.answers("openai-chat")
        yield script


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def upstream(vendor: world.Vendor, answers: Answers) -> ModelUpstream:
    return upstream_with_credential(vendor, base_url=answers.url)


def running(vendor: world.Vendor, upstream: ModelUpstream) -> Submission:
    """A submission on held-out tasks whose harness calls the upstream."""
    submission = site.moved(vendor.submit(world.task_set(), vendor.harness()), *site.TO_RUNNING)
    submission.refresh_from_db()
    for run in (submission.preflight_run, submission.held_out_run):
        assert run is not None
        with recorded(run):
            RunModel.objects.create(run=run, role="main", upstream=upstream, exposure="third_party")
    return submission


def test_an_outage_that_the_probe_confirms_pauses_and_its_end_resumes(
    vendor: world.Vendor, upstream: ModelUpstream, answers: Answers
) -> None:
    submission = running(vendor, upstream)
    answers.status = 503
    services.doubt(upstream.pk)
    services.settle_doubt(upstream.pk, by=BY)
    assert UpstreamStop.objects.get().cause == "down"
    assert not UpstreamDoubt.objects.exists()
    follow_upstreams()
    submission.refresh_from_db()
    assert (submission.state, submission.paused_from, submission.reason_code) == (
        "paused",
        "running",
        "upstream_down",
    )
    follow_upstreams()
    answers.status = 200
    with clock.shifted(timedelta(minutes=2)):
        services.review_stops(by=BY)
    assert UpstreamStop.objects.get().ended_at is not None
    follow_upstreams()
    submission.refresh_from_db()
    assert (submission.state, submission.reason_code) == ("running", "upstream_back")


@pytest.mark.parametrize("status", [200, 401, 429])
def test_a_doubt_that_the_probe_does_not_confirm_stops_nothing(
    upstream: ModelUpstream, answers: Answers, status: int
) -> None:
    answers.status = status
    services.doubt(upstream.pk)
    services.settle_doubt(upstream.pk, by=BY)
    assert not UpstreamStop.objects.exists()
    assert not UpstreamDoubt.objects.exists()


def test_a_ceiling_that_is_reached_pauses_until_it_is_raised(
    vendor: world.Vendor, upstream: ModelUpstream, settings: object
) -> None:
    settings.PROGRESS_TICK_SECONDS = 900  # type: ignore[attr-defined]
    submission = running(vendor, upstream)
    UpstreamUse.objects.create(upstream=upstream, spent=LIMITS.ceiling - Decimal("0.01"))
    services._spend(upstream.pk, Decimal("0.01"), by=BY)
    services._spend(upstream.pk, Decimal("0.01"), by=BY)
    assert [stop.cause for stop in UpstreamStop.objects.all()] == ["ceiling"]
    assert [stop.upstream_id for stop in queries.stopped_upstreams(submission.held_out_run)] == [upstream.pk]  # type: ignore[arg-type]
    follow_upstreams()
    submission.refresh_from_db()
    assert submission.state == "running", "not before the next tick"
    with clock.shifted(timedelta(hours=1)):
        follow_upstreams()
    submission.refresh_from_db()
    assert (submission.state, submission.reason_code) == ("paused", "upstream_ceiling")
    assert submission.reason_facts == {}, "which of its upstreams is not said"
    services.review_stops(by=BY)
    assert UpstreamStop.objects.get().ended_at is None
    upstreams.change_upstream(upstream.pk, changes={"ceiling": Decimal("200.00")}, by=vendor.actor)
    services.review_stops(by=BY)
    follow_upstreams()
    submission.refresh_from_db()
    assert submission.state == "running"


def test_an_upstream_that_a_submission_may_call_is_not_retired(
    vendor: world.Vendor, upstream: ModelUpstream
) -> None:
    submission = running(vendor, upstream)
    with pytest.raises(Refused) as refused:
        upstreams.retire_upstream(upstream.pk, by=vendor.actor)
    assert refused.value.refusal.code == Code.UPSTREAM_IN_USE
    site.moved(submission, ("cancelled", Code.CANCELLED_AFTER_START))
    upstreams.retire_upstream(upstream.pk, by=vendor.actor)
    upstream.refresh_from_db()
    assert upstream.state == "retired"


def test_a_ceiling_that_nobody_raises_ends_what_it_paused_and_the_use_stays_counted(
    vendor: world.Vendor, upstream: ModelUpstream
) -> None:
    submission = site.moved(running(vendor, upstream), ("paused", Code.UPSTREAM_CEILING))
    with clock.shifted(timedelta(days=13)):
        assert advance(submission.pk) == "paused"
    with clock.shifted(timedelta(days=15)):
        assert advance(submission.pk) == "cancelled"
    submission.refresh_from_db()
    assert (submission.reason_code, submission.slot.state) == ("deadline_ceiling", "consumed")


def test_what_costs_what_stays_while_a_submission_may_call_it(
    vendor: world.Vendor, upstream: ModelUpstream
) -> None:
    running(vendor, upstream)
    for change in ({"ceiling": Decimal("1.00")}, {"input_price": Decimal(1), "output_price": Decimal(1)}):
        with pytest.raises(Refused) as refused:
            upstreams.change_upstream(upstream.pk, changes=change, by=vendor.actor)
        assert refused.value.refusal.code == Code.UPSTREAM_IN_USE
    upstreams.change_upstream(upstream.pk, changes={"requests_per_minute": 5}, by=vendor.actor)
