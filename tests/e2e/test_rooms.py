"""Audit rooms in a real browser: axe, widths, content policy; for staff and for the auditor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.models import User
from tests.accounts.test_rooms import House, housed, result_of
from tests.e2e.conftest import PASSWORD
from tests.e2e.test_accessibility import look_at
from tests.e2e.test_duties import sign_in
from tests.factories import saved

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])


@pytest.fixture
def house(transactional_db: None) -> House:
    return housed()


def with_password(person: User) -> User:
    person.set_password(PASSWORD)
    saved(person)
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    return person


@pytest.mark.slow
def test_the_pages_are_accessible(page: Any, live_server: Any, house: House, complaints: list[str]) -> None:
    result_of(house.submission, house.submission.task_set)
    room, waiting = house.open(), house.propose()
    base = live_server.url
    seen = [
        (house.governor, ["console/rooms/", "console/rooms/new/"]),
        (house.office.first, ["console/rooms/", f"console/rooms/{waiting.id}/open/"]),
        (house.auditor, ["audit/rooms/", f"audit/rooms/{room.id}/"]),
    ]
    for place, (person, paths) in enumerate(seen):
        sign_in(page, base, with_password(person))
        addresses = [f"{base}/{language}/{path}" for path in paths for language in ("en", "zh-hans")]
        assert look_at(page, addresses) == []
        if folder := os.environ.get("LINGEE_SHOTS"):
            for number, address in enumerate(addresses):
                for width in (390, 1440):
                    page.set_viewport_size({"width": width, "height": 900})
                    page.goto(address)
                    page.screenshot(path=Path(folder) / f"r{place}-{number}-{width}.png", full_page=True)
    assert complaints == []
