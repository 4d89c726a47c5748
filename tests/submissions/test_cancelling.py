"""Cancelling at each stage: what the button says, what it costs, and that it tells nothing about held-out tasks."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from benchmark.models import TaskSetVersion
from config import clock
from evaluation.models import Attempt, Ending, Episode
from submissions import queries, services
from submissions.models import Submission
from submissions.services.progress import advance
from tests.factories import saved
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.outcomes import bring_to
from tests.submissions.test_lifecycle import PAYS
from tests.submissions.world import Vendor

pytestmark = pytest.mark.django_db
BUTTONS = {
    "refunded": ("Cancel; the use is returned", "取消（退还本次使用）"),
    "consumed": ("Cancel; it stays counted", "取消（仍计入次数）"),
}
LATE = [state for state, slot in PAYS.items() if slot == "consumed"]


@pytest.fixture(autouse=True)
def _adapter(settings: Any) -> None:
    settings.ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"


@pytest.mark.case("U7")
@pytest.mark.parametrize("state", PAYS)
def test_the_button_states_what_it_costs_and_does_that(
    state: str, vendor: Vendor, task_set: TaskSetVersion
) -> None:
    found = bring_to(vendor.submit(task_set, vendor.harness()), state)
    client = signed_in(vendor.user)
    for language, words in zip(("en", "zh-hans"), BUTTONS[PAYS[state]], strict=True):
        page = client.get(address("submissions:cancel", found.id, language=language)).content.decode()
        assert re.findall(r'<button class="btn btn-danger" type="submit">([^<]*)</button>', page) == [words]
    client.post(address("submissions:cancel", found.id))
    body = vendor.api.get(f"submissions/{found.id}").body
    assert (body["state"], body["charge"]["state"]) == ("cancelled", PAYS[state])


def run_held_out(submission: Submission, ending: str, seconds: float) -> None:
    """What the executors wrote about every held-out run of the submission."""
    episodes = Episode.objects.filter(run=submission.held_out_run).order_by("position")
    for episode in episodes:
        attempt = Attempt(
            episode=episode,
            number=1,
            fence=1,
            worker="w",
            started_at=clock.now(),
            ended_at=clock.now(),
            ending=ending,
            exit_code=0 if ending == Ending.FINISHED else 137,
            seconds=seconds,
            has_output=ending == Ending.FINISHED,
        )
        saved(attempt)


def everything_said(vendor: Vendor, submission: Submission) -> list[str]:
    """Each page and answer about it that its organisation can open, without ids and digests."""
    base = f"submissions/{submission.id}"
    client = signed_in(vendor.user)
    said = [
        f"{answer.status} {json.dumps(answer.body)}"
        for answer in (vendor.api.get(base), vendor.api.get(f"{base}/result"), vendor.api.get("quota"))
    ]
    for name in ("submissions:submission", "leaderboard:result", "submissions:cancel"):
        page = client.get(address(name, submission.id))
        said.append(f"{page.status_code} {page.content.decode()}")
    return [without_ids(text) for text in said]


def without_ids(text: str) -> str:
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{64}\b|vendor-[0-9a-f]{8}", "#", text)
    text = re.sub(r'csrfmiddlewaretoken" value="[^"]+"|nonce="[^"]+"|nonce-[\w+/=-]+', "", text)
    return re.sub(r"\b1\.\d+\b", "#", text)


@pytest.mark.case("U7")
@pytest.mark.parametrize("state", LATE)
def test_what_happened_on_held_out_tasks_shows_nowhere_after_a_cancellation(
    state: str, task_set: TaskSetVersion
) -> None:
    """Two vendors at the same instants, one whose runs all went well and fast, one whose runs all crashed late."""
    now = clock.now()
    said = []
    for ending, seconds in ((Ending.FINISHED, 1.25), (Ending.CRASHED, 777.5)):
        with clock.frozen(now):
            vendor = world.vendor()
            found = bring_to(vendor.submit(task_set, vendor.harness()), state)
            run_held_out(found, ending, seconds)
        with clock.frozen(now + timedelta(hours=2)):
            services.cancel(found.id, by=vendor.actor)
            advance(found.id)
            said.append(everything_said(vendor, found))
        body = vendor.api.get(f"submissions/{found.id}/result")
        assert (body.status, body.code) == (409, "result_not_released")
    assert said[0] == said[1]
    assert not any(re.search(r"777\.5|137", text) for text in said[1])


@pytest.mark.case("U7")
def test_what_is_stuck_is_returned_without_anybody_asking(vendor: Vendor) -> None:
    """A run that nobody finishes: the vendor may choose, and if they do not, use and cooldown come back."""
    task_set, harness = world.task_set(profile="official"), vendor.harness()
    found = bring_to(vendor.submit(task_set, harness), "running")
    with clock.shifted(timedelta(days=20)):
        services.sweep()
        assert Submission.objects.get(pk=found.pk).state == "awaiting_choice"
    with clock.shifted(timedelta(days=35)):
        services.sweep()
    body = vendor.api.get(f"submissions/{found.id}").body
    assert (body["state"], body["charge"]["state"], body["charge"]["counts"]) == ("voided", "refunded", False)
    assert body["charge"]["cooldown_until"] is None
    window = queries.quota_window(harness, task_set, account=vendor.user.id)
    assert window is not None
    assert (window.remaining, window.cooldown.bites) == (3, False)
