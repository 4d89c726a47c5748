"""Tokens: created once, shown once, revoked for good."""

from __future__ import annotations

import re

import pytest

from accounts.models import ApiToken
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db


def test_a_new_token_is_shown_once_and_works(vendor: world.Vendor) -> None:
    client = signed_in(vendor.user)
    fields = {"name": "nightly", "scopes": ["read"], "harness": "", "days": "7"}
    page = client.post("/en/v/tokens/new/", fields)
    found = re.search(r'id="token">([^<]+)</code>', page.content.decode())
    assert found
    secret = found.group(1)
    assert secret.startswith("lgb_")
    assert "no-store" in page.headers["Cache-Control"]
    assert secret not in client.get("/en/v/tokens/").content.decode()
    assert world.Api(secret).get("harnesses").status == 200


def test_a_token_can_be_limited_to_a_harness(vendor: world.Vendor) -> None:
    harness = vendor.harness()
    fields = {"name": "one", "scopes": ["read", "submit"], "harness": str(harness.id), "days": "30"}
    signed_in(vendor.user).post("/en/v/tokens/new/", fields)
    assert ApiToken.objects.get(name="one").harness_id == harness.id


def test_the_harness_of_another_vendor_is_no_choice(vendor: world.Vendor, other: world.Vendor) -> None:
    fields = {"name": "x", "scopes": ["read"], "harness": str(other.harness().id), "days": "30"}
    answer = signed_in(vendor.user).post("/en/v/tokens/new/", fields)
    assert "invalid-feedback" in answer.content.decode()
    assert not ApiToken.objects.filter(name="x").exists()


def test_revoking_ends_a_token_at_once(vendor: world.Vendor) -> None:
    client, path = signed_in(vendor.user), address("submissions:revoke_token", vendor.token.public_id)
    assert "cannot be undone" in client.get(path).content.decode()
    client.post(path)
    assert vendor.api.get("harnesses").code == "token_revoked"
    assert "revoked" in client.get("/en/v/tokens/").content.decode()


def test_a_foreign_token_is_not_there(vendor: world.Vendor, other: world.Vendor) -> None:
    path = address("submissions:revoke_token", vendor.token.public_id)
    assert signed_in(other.user).post(path).status_code == 404
    assert vendor.api.get("harnesses").status == 200
