"""A linked pair in a real browser, from the link to its being undone: axe, widths, content policy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accounts.linking import parting
from submissions.linking import services as joining
from tests.access.registration.filing import reviewers
from tests.access.registration.test_parting import WHY, linked
from tests.accounts.duties import acting
from tests.e2e.test_accessibility import look_at
from tests.e2e.test_duties import sign_in
from tests.e2e.test_rooms import with_password
from tests.pages import site
from tests.submissions import world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.case("G11")]


@pytest.mark.slow
def test_the_case_is_accessible_in_each_state(page: Any, live_server: Any, complaints: list[str]) -> None:
    site.task_set()
    one, other = reviewers()
    case = linked(world.vendor(), world.vendor(), (one, other))
    addresses = [f"{live_server.url}/{language}/console/links/{case.id}/" for language in ("en", "zh-hans")]
    sign_in(page, live_server.url, with_password(one))
    for state in ("linked", "parting", "parted"):
        if state == "parting":
            parting.propose(case, **WHY, by=acting(other))
        elif state == "parted":
            joining.part(case, by=acting(one))
        assert look_at(page, addresses) == []
        if folder := os.environ.get("LINGEE_SHOTS"):
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(addresses[0])
                page.screenshot(path=Path(folder) / f"link-{state}-{width}.png", full_page=True)
    assert complaints == []
