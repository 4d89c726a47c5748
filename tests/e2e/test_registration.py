"""Registration, its review and linked accounts in a real browser: axe, widths, content policy; filed by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.linking import services as linking
from accounts.linking.models import LinkCase
from accounts.models import Registration, User
from accounts.registration import review
from benchmark.models import TaskSetVersion
from tests.access.registration import filing
from tests.accounts.duties import acting
from tests.e2e.conftest import PASSWORD, sign_in, sign_in_as
from tests.e2e.test_accessibility import look_at
from tests.factories import saved
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


def shoot(page: Any, name: str, addresses: list[str]) -> None:
    """Pictures at both widths, where somebody wants to look."""
    if folder := os.environ.get("LINGEE_SHOTS"):
        for number, address in enumerate(addresses):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                page.screenshot(path=str(Path(folder) / f"{name}-{number}-{width}.png"), full_page=True)


def able(person: User) -> User:
    """They can sign in."""
    person.set_password(PASSWORD)
    saved(person)
    world.enrolled(person)
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    return person


def test_an_owner_files_and_sees_what_comes_next(
    page: Any, live_server: Any, vendor: world.Vendor, complaints: list[str], tmp_path: Path
) -> None:
    evidence = tmp_path / "register.pdf"
    evidence.write_bytes(filing.PDF)
    sign_in(page, live_server.url, vendor)
    base = f"{live_server.url}/en"
    assert look_at(page, [f"{base}/account/registration/new/", f"{base}/participation-rules/"]) == []
    page.goto(f"{base}/account/registration/new/")
    for name, value in filing.FIELDS.items():
        page.fill(f"#id_{name}", value)
    page.set_input_files("#id_evidence", str(evidence))
    page.click("main button[type=submit]")
    page.wait_for_url("**/account/registration/")
    assert page.is_visible("text=_lingee-bench.jianghai.example")
    addresses = [
        f"{live_server.url}/{language}/{path}"
        for language in ("en", "zh-hans")
        for path in ("account/registration/", "account/organisation/", "participation-rules/")
    ]
    assert look_at(page, addresses) == []
    assert complaints == []
    shoot(page, "vendor", [*addresses, f"{base}/account/registration/new/"])


def test_staff_pages(
    page: Any, live_server: Any, version: TaskSetVersion, complaints: list[str], vendor: world.Vendor
) -> None:
    one, other = filing.reviewers()
    row, proposed = filing.filed(world.vendor(verified=False)), filing.confirmed(world.vendor(verified=False))
    review.propose(proposed, verdict="verify", ground="", words="", by=acting(one))
    third = world.vendor().organisation.lineage_id
    open_case = linking.raise_case(vendor.organisation.lineage_id, third, [("card", "x")], by=world.BY)
    assert isinstance(open_case, LinkCase)
    sign_in_as(page, live_server.url, able(other))
    paths = [
        "organisations/",
        f"registrations/{row.id}/",
        f"registrations/{proposed.id}/",
        "links/",
        f"links/{open_case.id}/",
    ]
    addresses = [
        f"{live_server.url}/{language}/console/{path}" for language in ("en", "zh-hans") for path in paths
    ]
    assert look_at(page, addresses) == []
    assert complaints == []
    shoot(page, "staff", addresses)
    page.goto(addresses[2])
    page.click("form[action$='/confirm/'] button")
    page.wait_for_url("**/console/organisations/")
    assert Registration.objects.get(pk=proposed.pk).state == "verified"
