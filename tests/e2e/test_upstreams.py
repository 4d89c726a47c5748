"""Pages of model upstreams in a browser: readable at each width, and a credential put in through the form."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.upstreams.models import UpstreamCredential
from tests.access.upstreams.arranged import SECRET, registered
from tests.e2e.conftest import sign_in
from tests.e2e.test_accessibility import look_at
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


def test_pages_of_upstreams(page: Any, live_server: Any, vendor: world.Vendor, complaints: list[str]) -> None:
    sign_in(page, live_server.url, vendor)
    row = registered(vendor)
    base = f"{live_server.url}/en/v/upstreams/"
    page.goto(f"{base}{row.id}/")
    page.fill("#id_credential", SECRET)
    page.get_by_role("button", name="Set the credential").click()
    assert "…WXYZ" in page.content()
    assert SECRET not in page.content()
    assert UpstreamCredential.objects.filter(upstream=row).exists()
    addresses = [base, f"{base}new/", *(f"{base}{row.id}/{part}" for part in ("", "change/", "retire/"))]
    assert look_at(page, addresses) == []
    assert complaints == []
