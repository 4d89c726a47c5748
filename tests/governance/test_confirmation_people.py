"""Who else has a say: the owner of somebody else's harness; and the vendor's page, from the consent to the result."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts import services as accounts
from accounts.duties.table import Duty
from accounts.models import Membership
from benchmark.models import TaskSetVersion
from governance.confirmation.models import ConfirmationRun
from submissions.models import OwnerNotice, Submission
from submissions.relations.services import NOTICE, order_notice, record_objection, send_due_notices
from submissions.services import set_publication_consent
from tests.access.relations.test_owners import POST, submitted
from tests.accounts.duties import acting
from tests.accounts.duties import opened as office
from tests.factories import BY
from tests.governance.confirming import SHOWN, advanced, asked, confirmed, row_of
from tests.governance.test_delivery import bring_on, released
from tests.governance.test_silences import answer, opened, write
from tests.pages import site
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> TaskSetVersion:
    return opened()


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def theirs(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    """A third party's, complete; the consent that `submitted` gives is taken back."""
    found = bring_to(submitted(vendor), "running")
    write(found)
    assert released(bring_on(found))
    set_publication_consent(found.id, consent="withdrawn", by=vendor.actor)
    return Submission.objects.get(pk=found.pk)


def noticed(submission: Submission) -> OwnerNotice:
    order_notice(submission.id, by=acting(office().holder(Duty.IDENTITY_REVIEWER)))
    send_due_notices(by=POST)
    return OwnerNotice.objects.get(submission=submission)


def test_a_third_partys_run_waits_until_the_owner_has_had_time(
    vendor: world.Vendor, theirs: Submission
) -> None:
    assert asked(vendor, theirs).status == 202
    assert advanced(theirs, 2).state == "requested"
    noticed(theirs)
    assert advanced(theirs, 2).state == "requested"
    assert advanced(theirs, later=NOTICE + timedelta(minutes=1)).state == "queued"


def test_a_request_that_the_owners_rights_hold_up_for_too_long_ends(
    vendor: world.Vendor, theirs: Submission
) -> None:
    asked(vendor, theirs)
    row = advanced(theirs, later=timedelta(days=60, seconds=1))
    assert (row.state, row.cause) == ("incomplete", "not_allowed_in_time")


def test_an_objection_refuses_a_request_and_withdraws_one_that_is_there(
    vendor: world.Vendor, theirs: Submission
) -> None:
    asked(vendor, theirs)
    notice = noticed(theirs)
    record_objection(notice.id, "Not with my harness.", by=acting(office().holder(Duty.IDENTITY_REVIEWER)))
    row = advanced(theirs)
    assert (row.state, row.cause) == ("withdrawn", "owner_objected")
    refused = asked(vendor, theirs)
    assert (refused.status, refused.code) == (403, "confirmation_owner")


# --- pages --------------------------------------------------------------------------------------------


def text_of(client: Client, submission: Submission) -> str:
    answer = client.get(site.address("governance:confirmation", submission.id))
    assert answer.status_code == 200
    return answer.content.decode()


def key_in(text: str) -> str:
    found = re.search(r'name="key" value="([0-9a-f]{32})"', text)
    assert found is not None
    return found[1]


def test_the_page_asks_for_the_consent_and_shows_what_became_of_it(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    submission = answer(vendor, version)
    browser = site.signed_in(vendor.user)
    place = site.address("governance:confirmation", submission.id)
    result = browser.get(site.address("leaderboard:result", submission.id)).content.decode()
    assert place in result
    key = key_in(text_of(browser, submission))
    without = browser.post(place, {"key": key})
    assert (without.status_code, b"confirmation_consent" in without.content) == (422, True)
    given: dict[str, Any] = {"key": key, "publication_consent": "given"}
    assert [browser.post(place, given).status_code for _ in range(2)] == [302, 302], "twice is once"
    assert ConfirmationRun.objects.count() == 1
    text = text_of(browser, submission)
    assert "asked for" in text
    assert "Withdraw the confirmation run" in text
    assert "publication_consent" not in text
    assert browser.post(site.address("governance:withdraw_confirmation", submission.id)).status_code == 302
    assert "Withdrawn by your organisation" in text_of(browser, submission)
    again = browser.post(site.address("governance:withdraw_confirmation", submission.id))
    assert again.status_code == 302
    assert "Withdraw the confirmation run" not in text_of(browser, submission)


def test_a_viewer_sees_how_it_stands_and_changes_nothing(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    submission = answer(vendor, version)
    viewer = world.person("viewer")
    accounts.add_member(vendor.organisation, viewer, Membership.Role.VIEWER, by=BY)
    browser = site.signed_in(viewer)
    assert "Ask for the confirmation run" not in text_of(browser, submission)
    place = site.address("governance:confirmation", submission.id)
    refused = browser.post(place, {"key": "k", "publication_consent": "given"})
    assert refused.status_code == 403
    asked(vendor, submission)
    refused = browser.post(site.address("governance:withdraw_confirmation", submission.id))
    assert refused.status_code in (302, 403)
    assert row_of(submission).state == "requested"


def test_the_confirmed_result_says_so_and_pages_say_no_number_before(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    submission = answer(vendor, version)
    browser = site.signed_in(vendor.user)
    place = site.address("leaderboard:result", submission.id)
    before = browser.get(place).content.decode()
    confirmed(vendor, submission)
    assert "Graded and sealed" in text_of(browser, submission)
    for text in (text_of(browser, submission), browser.get(place).content.decode()):
        assert not [value for value in (75, 25, 100) if f'<td class="number">{value}</td>' in text]
    call_command("release_dated", "demo-1")
    after = browser.get(place).content.decode()
    assert "Confirmed and published" in after
    assert all(f'<td class="number">{value}</td>' in after for value in SHOWN.values())
    assert "Confirmed and published" not in before
    home = browser.get(site.address("leaderboard:home")).content.decode()
    assert "75" in home
