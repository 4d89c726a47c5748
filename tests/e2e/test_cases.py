"""Staff pages about packages and owners in a browser: axe, widths, content policy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.duties.table import Duty
from accounts.models import User
from config import store
from submissions.confidentiality import services as packages
from submissions.models import Submission
from submissions.relations import services as relations
from submissions.services import register_harness, set_publication_consent
from submissions.services.checking import check
from tests.accounts.duties import acting, opened
from tests.e2e.conftest import PASSWORD, sign_in_as
from tests.e2e.test_accessibility import look_at
from tests.factories import saved
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


def staff(*duties: Duty) -> User:
    """Somebody with these duties who can sign in."""
    person = opened().holder(*duties)
    person.set_password(PASSWORD)
    saved(person)
    world.enrolled(person)
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    return person


@pytest.fixture
def submission(transactional_db: None) -> Submission:
    """A third party's, whose publication was agreed to, with a sealed package."""
    store.ensure_buckets()
    vendor, owner = world.vendor(), relations.Owner("Ada Example", "ada@owner.invalid")
    harness = register_harness(
        vendor.organisation,
        name="theirs",
        title="Theirs",
        relation="third_party",
        owner=owner,
        by=vendor.actor,
    )
    found = vendor.submit(site.task_set(), harness)
    check(found.id)
    set_publication_consent(found.id, consent="given", by=vendor.actor)
    return Submission.objects.get(pk=found.pk)


def test_packages_and_owners(
    page: Any, live_server: Any, submission: Submission, complaints: list[str]
) -> None:
    person, arbiter = staff(Duty.EVALUATION_ENGINEER, Duty.IDENTITY_REVIEWER), opened().holder(Duty.ARBITER)
    row = packages.propose(submission.id, hours=24, reason="case 1", by=acting(person))
    packages.approve(row.id, by=acting(arbiter))
    packages.lend_key(row.id, by=world.BY)
    relations.order_notice(submission.id, by=acting(person))
    relations.send_due_notices(by=world.BY)
    sign_in_as(page, live_server.url, person)
    paths = ["packages/", "packages/new/", "owners/", f"owners/{submission.id}/objection/"]
    addresses = [f"{live_server.url}/en/console/{path}" for path in paths]
    assert look_at(page, addresses) == []
    assert complaints == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, address in enumerate(addresses):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                page.screenshot(path=Path(folder) / f"conf{number}-{width}.png", full_page=True)
    page.goto(addresses[0])
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert Path(download.value.path()).read_bytes()[:2] == b"\x1f\x8b"
