"""A preflight on its own in the browser: the button beside the submission's, the page that shows how it stands."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from accounts import services as accounts
from benchmark.models import TaskSetVersion
from submissions import queries, services
from submissions.models import Submission
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.pages.test_submitting import key_in
from tests.submissions import outcomes, world
from tests.submissions.test_preflights import ended

pytestmark = [pytest.mark.django_db, pytest.mark.acceptance("access:1")]


def order_of(vendor: world.Vendor, version: TaskSetVersion, name: str = "probe") -> queries.Order:
    return vendor.order(version, vendor.harness(name))


def confirm_page(order: queries.Order, language: str = "en") -> str:
    path = address("submissions:confirm", order.upload.id, language=language)
    return f"{path}?task_set={order.task_set.label}"


def press(client: Client, order: queries.Order) -> Submission:
    """Press "Preflight only" on the confirm page."""
    page = client.get(confirm_page(order))
    start = address("submissions:start_preflight", order.upload.id)
    assert f'action="{start}"' in page.content.decode()
    answer = client.post(start, {"key": key_in(page), "task_set": order.task_set.label})
    found = Submission.of_any_scope.get()
    assert answer.headers["Location"] == address("submissions:preflight", found.id)
    return found


def test_an_organisation_under_review_presses_the_button_and_reads_the_logs(version: TaskSetVersion) -> None:
    vendor = world.vendor(verified=False)
    client, order = signed_in(vendor.user), order_of(vendor, version)
    assert (
        "run the preflight on the public tasks"
        in client.get(address("submissions:new_submission")).content.decode()
    )
    found = press(client, order)
    page = address("submissions:preflight", found.id)
    waiting = client.get(page).content.decode()
    assert "no held-out task is touched, no submission is used" in waiting
    assert "It does count as one of the 20 preflights" in waiting
    assert "Look again" in waiting
    assert client.get(address("submissions:submission", found.id)).headers["Location"] == page
    for place in (address("submissions:submissions"), address("leaderboard:home")):
        assert "preflight only" in client.get(place).content.decode()
    ended(found)
    text = client.get(page).content.decode()
    assert "preflight passed" in text
    assert "8 of 8" in text
    (task, *_) = re.findall(rf'href="{re.escape(page)}([\w-]+)/0/"', text)
    log = client.get(address("submissions:preflight_run", found.id, task, 0)).content.decode()
    assert f"log of {task}" in log
    accounts.verify_organisation(vendor.organisation, by=site.BY)
    form = client.get(confirm_page(order))
    done = client.post(confirm_page(order), {"key": key_in(form), "task_set": version.label})
    whole = Submission.objects.get()
    assert done.headers["Location"] == address("submissions:submission", whole.id)
    assert (whole.upload, whole.slot.state) == (found.upload, "reserved")


def test_what_stands_against_it_is_named(vendor: world.Vendor, version: TaskSetVersion) -> None:
    client, order = signed_in(vendor.user), order_of(vendor, version)
    found = press(client, order)
    page = client.get(confirm_page(order)).content.decode()
    assert "Not possible now:" in page
    start = address("submissions:start_preflight", order.upload.id)
    assert f'action="{start}"' not in page
    refused = client.post(start, {"key": "other", "task_set": version.label})
    assert (refused.status_code, b"<code>in_flight</code>" in refused.content) == (429, True)
    assert client.post(start, {"task_set": version.label}).status_code == 422
    assert client.post(start, {"task_set": "none", "key": "k"}).headers["Location"] == address(
        "submissions:new_submission"
    )
    assert Submission.of_any_scope.get() == found


def test_cancelling_says_what_it_does(vendor: world.Vendor, version: TaskSetVersion) -> None:
    client = signed_in(vendor.user)
    found = press(client, order_of(vendor, version))
    cancel = address("submissions:cancel", found.id)
    assert "It stays counted as a preflight." in client.get(cancel).content.decode()
    assert client.post(cancel).status_code == 302
    page = client.get(address("submissions:preflight", found.id)).content.decode()
    assert "The preflight is cancelled." in page
    assert "preflight_cancelled" in page
    assert "cannot be cancelled" in client.get(cancel).content.decode()


def test_a_failure_and_a_fault_of_the_platform_are_told_apart(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    client, order = signed_in(vendor.user), order_of(vendor, version)
    lost = press(client, order)
    services.abort_upload(order.upload.id, by=vendor.actor)
    services.check(lost.id)
    page = client.get(address("submissions:preflight", lost.id)).content.decode()
    assert "This one does not count" in page
    again = order_of(vendor, version, "again")
    receipt = services.start_preflight(again, by=vendor.actor, key="again")
    services.check(receipt.submission_id)
    run = Submission.of_any_scope.get(pk=receipt.submission_id).preflight_run
    assert run is not None
    outcomes.public_results(run, crashed=99)
    services.advance(receipt.submission_id)
    page = client.get(address("submissions:preflight", receipt.submission_id)).content.decode()
    assert "8 of 8 runs ended without artefact or reply" in page
    assert "<code>preflight_crashed</code>" in page


def test_pages_of_a_submission_know_no_preflight(
    vendor: world.Vendor, other: world.Vendor, version: TaskSetVersion
) -> None:
    client = signed_in(vendor.user)
    found = press(client, order_of(vendor, version))
    for name in ("submissions:receipt", "submissions:choice", "leaderboard:result"):
        assert client.get(address(name, found.id)).status_code == 404
    assert client.post(address("submissions:consent", found.id), {"consent": "given"}).status_code == 404
    stranger = signed_in(other.user)
    for name in ("submissions:preflight", "submissions:submission", "submissions:cancel"):
        assert stranger.get(address(name, found.id)).status_code == 404
