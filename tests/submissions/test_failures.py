"""Every way not to end well, made by the services that workers call: what API, page and database say of it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError

from benchmark.models import TaskSetVersion
from config import clock
from submissions import queries, services
from submissions.models import Submission
from submissions.policies.failures import FailureClass, failure_class
from submissions.policies.states import ENDS
from submissions.problems import Code
from tests.factories import recorded
from tests.pages.site import address, signed_in
from tests.submissions import outcomes, world
from tests.submissions.bundles import entry, pack
from tests.submissions.outcomes import bring_to
from tests.submissions.world import Vendor

pytestmark = pytest.mark.django_db
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(autouse=True)
def _adapter(settings: Any) -> None:
    settings.ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"


def rejected(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
    """A bundle without harness.toml."""
    version = vendor.version(vendor.harness())
    upload = vendor.upload(version, pack([entry("run.py", b"pass\n")], b""))
    receipt = services.submit(
        queries.Order(vendor.organisation, version, task_set, upload), by=vendor.actor, key="k"
    )
    services.check(receipt.submission_id)
    return Submission.objects.get(pk=receipt.submission_id)


def in_state(vendor: Vendor, task_set: TaskSetVersion, state: str) -> Submission:
    return bring_to(vendor.submit(task_set, vendor.harness()), state)


def crashed(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
    found = in_state(vendor, task_set, "preflight")
    assert found.preflight_run is not None
    outcomes.public_results(found.preflight_run, crashed=2)
    services.advance(found.id)
    return found


def canary(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
    found = in_state(vendor, task_set, "queued")
    assert found.canary_run is not None
    outcomes.crash_canary(found.canary_run)
    services.advance(found.id)
    return found


def undecided(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
    found = in_state(vendor, task_set, "grading")
    assert found.held_out_run is not None
    outcomes.lose(found.held_out_run, 1)
    return services.conclude(found, "awaiting_choice", by=world.BY)


def chosen(choice: str) -> Callable[[Vendor, TaskSetVersion], Submission]:
    def act(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
        return services.choose(undecided(vendor, task_set).id, choice, by=vendor.actor)

    return act


def overdue(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
    found = in_state(vendor, task_set, "checking")
    with clock.shifted(timedelta(minutes=16)):
        services.sweep()
    return found


def cancelled(state: str) -> Callable[[Vendor, TaskSetVersion], Submission]:
    def act(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
        return services.cancel(in_state(vendor, task_set, state).id, by=vendor.actor)

    return act


def reviewed(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
    return services.conclude(in_state(vendor, task_set, "held"), "voided", by=world.BY)


def paused(vendor: Vendor, task_set: TaskSetVersion) -> Submission:
    return in_state(vendor, task_set, "paused")


FIXTURES: dict[str, tuple[Callable[[Vendor, TaskSetVersion], Submission], str, str, str]] = {
    "intake": (rejected, "intake", "manifest_missing", "refunded"),
    "preflight": (crashed, "preflight", "preflight_crashed", "refunded"),
    "canary": (canary, "canary", "canary_failed", "refunded"),
    "overdue": (overdue, "platform", "deadline_checking", "refunded"),
    "paused": (paused, "platform", "upstream_down", "consumed"),
    "undecided": (undecided, "platform", "runs_lost", "consumed"),
    "kept": (chosen("keep"), "platform", "choice_keep", "consumed"),
    "void": (chosen("void"), "platform", "choice_void", "refunded"),
    "cancelled": (cancelled("created"), "cancelled", "cancelled_by_vendor", "refunded"),
    "cancelled late": (cancelled("running"), "cancelled", "cancelled_after_start", "consumed"),
    "review": (reviewed, "review", "voided_after_review", "consumed"),
}


def test_every_class_has_a_fixture() -> None:
    assert {row[1] for row in FIXTURES.values()} == {name.value for name in FailureClass}


@pytest.mark.case("U2")
@pytest.mark.parametrize("name", FIXTURES)
def test_api_and_page_say_the_same_of_a_failure(name: str, vendor: Vendor, task_set: TaskSetVersion) -> None:
    make, wanted, code, slot = FIXTURES[name]
    found = make(vendor, task_set)
    body = vendor.api.get(f"submissions/{found.id}").body
    said = body["outcome"]
    assert (body["failure_class"], said["code"], body["support_id"]) == (wanted, code, str(found.id))
    assert (body["charge"]["state"], bool(body["charge"]["words"])) == (slot, True)
    assert set(said["texts"]) == {language for language, _ in settings.LANGUAGES}
    for language, words in said["texts"].items():
        assert all(words.values()), language
        assert bool(CHINESE.search(words["detail"])) == (language == "zh-hans")
        assert bool(CHINESE.search(words["remedy"])) == (language == "zh-hans")
        page = signed_in(vendor.user).get(address("submissions:submission", found.id, language=language))
        text = bare(page.content.decode())
        for shown in (*words.values(), body["failure_class"], body["support_id"], code):
            assert bare(shown) in text, (language, shown)


def bare(text: str) -> str:
    """Without spaces and the method in front of addresses, which pages turn into links."""
    return plain(text).replace("GET /api", "/api").replace(" ", "")


def plain(page: str) -> str:
    """What a reader sees, without marks."""
    text = html.unescape(re.sub(r"<[^>]+>", "", page)).replace("`", "")
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("state", ["created", "running", "held", "complete"])
def test_where_nothing_has_failed_there_is_no_class(
    state: str, vendor: Vendor, task_set: TaskSetVersion
) -> None:
    body = vendor.api.get(f"submissions/{in_state(vendor, task_set, state).id}").body
    assert (body["failure_class"], body["support_id"]) == (None, None)


@pytest.mark.case("U2")
@pytest.mark.parametrize("state", ["rejected", "voided", "cancelled"])
def test_no_end_without_a_code(state: str, vendor: Vendor, task_set: TaskSetVersion) -> None:
    found = in_state(vendor, task_set, "checking")
    rows = Submission.objects.filter(pk=found.pk)
    with pytest.raises(IntegrityError, match="halted_submission_says_why"), recorded(found):
        rows.update(state=state, reason_code="", ended_at=clock.now())
    with recorded(found):
        rows.update(state=state, reason_code=Code.DEADLINE_CHOICE, ended_at=clock.now())


def test_every_end_but_a_complete_one_has_a_class() -> None:
    without = {state for state in ENDS if failure_class(state, Code.DEADLINE_CHOICE) is None}
    assert without == {"complete", "preflight_passed"}
