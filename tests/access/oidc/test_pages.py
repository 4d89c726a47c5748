"""The pages of trusted publishers: register, see, remove; nothing of another organisation's."""

from __future__ import annotations

import uuid

import pytest

from accounts.models import Membership
from accounts.publishing.models import TrustedPublisher
from submissions.models import Harness
from tests.access.oidc.arranged import Job, fields
from tests.issuer import AUDIENCE, Issuer
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
NEW = "/en/v/publishers/new/"


@pytest.mark.case("G38")
def test_a_publisher_is_registered_seen_and_removed(
    vendor: world.Vendor, harness: Harness, issuer: Issuer
) -> None:
    browser, job = signed_in(vendor.user), Job(issuer)
    assert "127.0.0.1" in browser.get(NEW).content.decode()
    sent = {"harness": str(harness.id), **fields(issuer.address), "workflow": "submit.yml"}
    assert browser.post(NEW, sent).status_code == 302
    assert job.exchange().status == 201
    page = browser.get("/en/v/publishers/").content.decode()
    for text in ("acme/harness", ".github/workflows/submit.yml", "active", AUDIENCE, str(harness.id)):
        assert text in page
    again = browser.post(NEW, sent)
    assert again.status_code == 409
    assert "publisher_exists" in again.content.decode()
    path = address("submissions:remove_publisher", TrustedPublisher.objects.get().id)
    assert "go on" in browser.get(path).content.decode()
    assert browser.post(path).status_code == 302
    assert job.exchange().code == "publisher_removed"
    assert "removed" in browser.get("/en/v/publishers/").content.decode()
    assert browser.post(NEW, sent).status_code == 302
    assert job.exchange().status == 201


def test_a_field_that_cannot_be_is_shown_at_the_field(
    vendor: world.Vendor, harness: Harness, issuer: Issuer
) -> None:
    sent = {"harness": str(harness.id), **fields(issuer.address), "owner_id": "acme"}
    answer = signed_in(vendor.user).post(NEW, sent)
    assert answer.status_code == 422
    assert "cannot be acme" in answer.content.decode()
    assert not TrustedPublisher.objects.exists()


def test_who_may_only_read_registers_and_removes_nothing(issuer: Issuer) -> None:
    viewer = world.vendor()
    harness = viewer.harness()
    member = Membership.objects.get(user=viewer.user)
    from tests.factories import saved

    member.role = Membership.Role.VIEWER
    saved(member)
    answer = signed_in(viewer.user).post(NEW, {"harness": str(harness.id), **fields(issuer.address)})
    assert answer.status_code == 403
    assert "role_may_not_submit" in answer.content.decode()


def test_anothers_is_not_there(publisher: TrustedPublisher) -> None:
    stranger = signed_in(world.vendor().user)
    for identifier in (publisher.id, uuid.uuid4()):
        assert stranger.post(address("submissions:remove_publisher", identifier)).status_code == 404
    assert "acme" not in stranger.get("/en/v/publishers/").content.decode()
    assert TrustedPublisher.objects.get().ended_at is None
