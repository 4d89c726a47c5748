"""Second factors in a real browser: a passkey of a virtual authenticator is added and signs in; pages at each width."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator

from accounts.members import services as members
from accounts.models import Membership
from tests.accounts.test_erasure import Connect
from tests.e2e.conftest import sign_in
from tests.e2e.test_accessibility import look_at
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def device(page: Any) -> Any:
    """An authenticator that lives in the browser, as a phone's or laptop's would."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session


@pytest.mark.acceptance("access:1")
def test_a_passkey_is_added_and_signs_in(
    page: Any, device: Any, live_server: Any, vendor: world.Vendor, complaints: list[str], connect_as: Connect
) -> None:
    sign_in(page, live_server.url, vendor)
    page.goto(f"{live_server.url}/en/account/2fa/webauthn/add/")
    page.check("#id_passwordless")
    page.click("#mfa_webauthn_add")
    page.wait_for_url("**/recovery-codes/")
    assert Authenticator.objects.filter(user=vendor.user, type="webauthn").count() == 1
    page.context.clear_cookies()
    page.goto(f"{live_server.url}/en/account/login/")
    page.click("#passkey_login")
    page.wait_for_url("**/en/v/")
    page.goto(f"{live_server.url}/en/v/tokens/new/")  # strong and fresh
    page.wait_for_selector("#id_name")
    # As the second step after a password, too.
    page.context.clear_cookies()
    page.goto(f"{live_server.url}/en/account/login/")
    page.fill("#id_login", vendor.user.email)
    page.fill("#id_password", "correct horse battery")
    page.click("main form button[type=submit] >> nth=0")
    page.wait_for_url("**/2fa/authenticate/")
    page.click("#mfa_webauthn_authenticate")
    page.wait_for_url("**/en/v/")
    # Removed on its page, and both are in the log.
    page.goto(f"{live_server.url}/en/account/2fa/webauthn/")
    page.click("main a[href*='/remove/']")
    page.click("main form button[type=submit]")
    page.wait_for_url("**/2fa/webauthn/")
    rows = connect_as("auditor").execute(
        "SELECT kind FROM audit_event WHERE subject_id = %s AND kind LIKE '%%factor%%' ORDER BY id",
        [str(vendor.user.pseudonym)],
    )
    assert [kind for (kind,) in rows] == ["account.factor_enrolled", "account.factor_removed"]
    assert complaints == []


@pytest.mark.slow
def test_the_pages_are_accessible(
    page: Any, live_server: Any, vendor: world.Vendor, complaints: list[str]
) -> None:
    sign_in(page, live_server.url, vendor)
    other = world.colleague(vendor)
    for address in ("new@lingee.invalid", "a-rather-long-address-of-somebody@department.lingee.invalid"):
        members.invite(vendor.organisation, address, "viewer", inviter=vendor.user, by=vendor.actor)
    row = Membership.objects.get(user=other.user)
    paths = [
        "2fa/",
        "2fa/totp/deactivate/",
        "2fa/webauthn/add/",
        "2fa/webauthn/",
        "2fa/recovery-codes/generate/",
        "sessions/",
        "erase/",
        "members/",
        f"members/{row.pk}/",
        f"members/{row.pk}/end/",
        "reauthenticate/",
        "2fa/reauthenticate/",
        "2fa/webauthn/reauthenticate/",
    ]
    look(page, live_server.url, paths)
    Authenticator.objects.filter(user=vendor.user).delete()
    look(page, live_server.url, ["2fa/", "2fa/totp/activate/"])
    assert complaints == []


def look(page: Any, base: str, paths: list[str]) -> None:
    addresses = [f"{base}/{language}/account/{path}" for path in paths for language in ("en", "zh-hans")]
    assert look_at(page, addresses) == []
    if folder := os.environ.get("LINGEE_SHOTS"):
        for address in addresses:
            name = address.partition("//")[2].partition("/")[2].replace("/", "_")
            for width in (390, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                page.screenshot(path=Path(folder) / f"{name}{width}.png", full_page=True)
