"""A session proves who sits there: over the API as in the pages, and by the second factor where there is one."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.test import Client

from accounts import services as accounts
from accounts.models import ApiToken, User
from accounts.security import factors
from config import clock
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db
TOKEN = ("tokens", {"name": "x", "scopes": ["submit"], "days": 90})
WEBHOOK = ("webhooks", {"url": "https://example.com/", "kinds": ["submission.state"]})
FACTOR_PAGES = ("totp/deactivate/", "webauthn/add/", "recovery-codes/", "recovery-codes/generate/")


def asked(client: Client, path: str, body: dict[str, Any]) -> tuple[int, str]:
    answer = client.post(f"/api/v1/{path}", body, content_type="application/json")
    return answer.status_code, answer.json().get("code", "")


@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize("request_", [TOKEN, WEBHOOK], ids=["token", "webhook"])
def test_an_old_session_makes_no_credential_over_the_api(request_: tuple[str, dict[str, Any]]) -> None:
    client = site.signed_in(world.vendor().user)
    with clock.shifted(timedelta(minutes=16)):
        assert asked(client, *request_) == (403, "proof_due")
        page = client.get("/api/v1/problems/proof_due")
        assert page.status_code == 200
        assert client.get(f"/api/v1/{request_[0]}").status_code == 200  # looking needs none
    assert asked(client, *request_)[0] == 201


@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize("page", FACTOR_PAGES)
def test_the_password_alone_replaces_no_second_factor(page: str) -> None:
    """In a session that began before there was a factor, or without it: neither fresh nor after the password again."""
    user = world.vendor().user
    client = site.signed_in(user)
    RecoveryCodes.activate(user)
    session = client.session
    session.update(site.proofs(user, "password"))
    session.save()
    before = list(Authenticator.objects.filter(user=user).values_list("pk", flat=True))
    for ask in (client.get, client.post):
        answer = ask(f"/en/account/2fa/{page}")
        if answer.status_code == 405:
            continue
        assert answer.headers["Location"].startswith("/en/account/2fa/reauthenticate/?next=")
    by_password = client.get(f"/en/account/reauthenticate/?next=/en/account/2fa/{page}")
    assert by_password.headers["Location"].startswith("/en/account/2fa/reauthenticate/")
    assert list(Authenticator.objects.filter(user=user).values_list("pk", flat=True)) == before
    client.post("/en/account/2fa/reauthenticate/", {"code": site.code_of(user)})
    assert client.get(f"/en/account/2fa/{page}").status_code == 200


@pytest.mark.acceptance("access:1")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["password", "suspension"])
def test_what_ends_all_tokens_ends_one_that_is_just_being_made(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = world.vendor()
    stale, found = User.objects.get(pk=vendor.user.pk), []
    begun, ended = threading.Event(), threading.Event()

    def waits(account: object) -> None:
        begun.set()
        assert ended.wait(20)

    def issue() -> None:
        try:
            accounts.issue_token(stale, vendor.organisation, name="z", scopes=["read"], by=vendor.actor)
        except PermissionDenied as refused:
            found.append(refused)
        finally:
            connections.close_all()

    monkeypatch.setattr(factors, "require_enrolled", waits)
    making = threading.Thread(target=issue)
    making.start()
    assert begun.wait(20)
    if end == "password":
        accounts.set_password(vendor.user, "another long pass phrase 9", by=vendor.actor)
    else:
        accounts.suspend_user(vendor.user, by=world.BY)
    ended.set()
    making.join(20)
    assert len(found) == 1
    assert not ApiToken.objects.filter(user=vendor.user, name="z").exists()


def test_a_cookie_with_a_nul_is_no_session() -> None:
    client = Client(raise_request_exception=False)
    headers = {"cookie": 'sessionid="aaaaaaaaaa\\000"; django_language="en\\000"'}
    assert client.get("/en/account/login/", headers=headers).status_code == 200
    assert client.get("/en/account/sessions/", headers=headers).status_code == 302
