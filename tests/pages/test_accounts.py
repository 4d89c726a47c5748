"""From sign-up to a verified organisation; suspension; both languages of the mails."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts import services
from accounts.models import Organisation, User
from accounts.queries import membership_of
from accounts.registration.rules import current
from audit.events import system
from audit.models import EventRecord
from tests.factories import saved
from tests.pages.site import code_of, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
WORDS = {"en": "under review", "zh-hans": "审核中"}


def sign_up(client: Client, language: str, email: str = "new@lingee.invalid") -> Any:
    fields = {"email": email, "password1": PASSWORD, "password2": PASSWORD}
    return client.post(f"/{language}/account/signup/", fields)


def link_in(message: Any) -> str:
    found = re.search(r"http://testserver(\S+)", message.body)
    assert found, message.body
    return found.group(1)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_from_sign_up_to_an_organisation_under_review(client: Client, language: str) -> None:
    answer = sign_up(client, language)
    assert answer.headers["Location"] == f"/{language}/account/confirm-email/"
    assert mail.outbox[0].subject.startswith("[Lingee Bench]")
    link = link_in(mail.outbox[0])
    assert link.startswith(f"/{language}/account/confirm-email/")
    assert client.get(link).status_code == 200
    client.post(link)
    login = {"login": "new@lingee.invalid", "password": PASSWORD}
    answer = client.post(f"/{language}/account/login/", login)
    assert answer.headers["Location"] == f"/{language}/account/organisation/"
    answer = client.post(
        f"/{language}/account/organisation/",
        {"name": "  江海  智能 ", "rules_version": current().version, "accept": "on"},
        follow=True,
    )
    assert WORDS[language] in answer.content.decode().lower()
    organisation = Organisation.objects.get(name="江海 智能")
    assert organisation.state == Organisation.State.UNDER_REVIEW
    user = User.objects.get(email="new@lingee.invalid")
    assert (user.language, membership_of(user).role) == (language, "owner")  # type: ignore[union-attr]


def test_signing_up_is_on_record(client: Client) -> None:
    before = EventRecord.objects.values("id").count()
    sign_up(client, "en")
    assert EventRecord.objects.values("id").count() == before + 1


def test_an_address_that_is_known_is_not_given_away(client: Client) -> None:
    services.create_user("known@lingee.invalid", PASSWORD, by=system("test"))
    answer = sign_up(client, "en", "known@lingee.invalid")
    assert answer.headers["Location"] == "/en/account/confirm-email/"


def test_members_land_in_their_area(client: Client, vendor: world.Vendor) -> None:
    vendor.user.set_password(PASSWORD)
    saved(vendor.user)
    EmailAddress.objects.create(user=vendor.user, email=vendor.user.email, verified=True, primary=True)
    answer = client.post("/en/account/login/", {"login": vendor.user.email, "password": PASSWORD})
    assert answer.headers["Location"] == "/en/account/2fa/authenticate/"
    answer = client.post(answer.headers["Location"], {"code": code_of(vendor.user)})
    assert answer.headers["Location"] == "/en/v/"


def test_a_wrong_password_says_so_in_the_form(client: Client, vendor: world.Vendor) -> None:
    answer = client.post("/en/account/login/", {"login": vendor.user.email, "password": "wrong"})
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()


@pytest.mark.acceptance("main-job:8")
@pytest.mark.parametrize(
    ("language", "words"), [("en", "This account is suspended"), ("zh-hans", "此账户已停用")]
)
def test_a_suspended_account_gets_a_clear_page(vendor: world.Vendor, language: str, words: str) -> None:
    client = signed_in(vendor.user)
    services.suspend_user(vendor.user, by=system("test"))
    for path in ("v/", "v/submissions/", "v/tokens/", "account/organisation/"):
        answer = client.get(f"/{language}/{path}")
        assert answer.status_code == 403
        assert words in answer.content.decode()
        assert "account_suspended" in answer.content.decode()
    assert client.get(f"/{language}/").status_code == 200


@pytest.mark.case("G40")
@pytest.mark.parametrize("method", ["get", "post"])
def test_in_a_session_that_outlived_a_suspension_only_the_sign_out_is_left(
    vendor: world.Vendor, method: str
) -> None:
    client = signed_in(vendor.user)
    assert client.get("/en/account/2fa/").status_code == 200
    services.suspend_user(vendor.user, by=system("test"))
    client.force_login(vendor.user)  # as a session that began at that very moment
    for path in ("email", "2fa", "2fa/webauthn", "2fa/recovery-codes/generate", "password/change", "login"):
        answer = getattr(client, method)(f"/en/account/{path}/")
        assert answer.status_code == 403, path
        assert "account_suspended" in answer.content.decode(), path
        assert "no-store" in answer.headers["Cache-Control"]
    assert client.get("/en/account/logout/").status_code == 200
    client.post("/en/account/logout/")
    assert "_auth_user_id" not in client.session
    assert client.get("/en/account/login/").status_code == 200


def test_a_suspended_person_cannot_sign_in(client: Client, vendor: world.Vendor) -> None:
    vendor.user.set_password(PASSWORD)
    saved(vendor.user)
    EmailAddress.objects.create(user=vendor.user, email=vendor.user.email, verified=True, primary=True)
    services.suspend_user(vendor.user, by=system("test"))
    answer = client.post("/en/account/login/", {"login": vendor.user.email, "password": PASSWORD})
    assert answer.headers["Location"] == "/en/account/suspended/"
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_password_is_reset_by_mail(client: Client, vendor: world.Vendor, language: str) -> None:
    vendor.user.set_password(PASSWORD)
    saved(vendor.user)
    EmailAddress.objects.create(user=vendor.user, email=vendor.user.email, verified=True, primary=True)
    client.post(f"/{language}/account/password/reset/", {"email": vendor.user.email})
    page = client.get(link_in(mail.outbox[0]), follow=True)
    target = page.redirect_chain[-1][0]
    answer = client.post(
        target, {"password1": "a quite new one", "password2": "a quite new one"}, follow=True
    )
    assert answer.status_code == 200
    vendor.user.refresh_from_db()
    assert vendor.user.check_password("a quite new one")


def test_whoever_has_no_organisation_is_led_to_create_one(db: None) -> None:
    client = signed_in(services.create_user("alone@lingee.invalid", None, by=system("test")))
    assert client.get("/en/v/").headers["Location"] == "/en/account/organisation/"
    assert "Create your organisation" in client.get("/en/account/organisation/").content.decode()


def test_account_pages_of_the_library_stand_in_our_frame(vendor: world.Vendor) -> None:
    client = signed_in(vendor.user)
    for path in ("email/", "password/change/", "2fa/", "logout/"):
        answer = client.get(f"/en/account/{path}", follow=True)
        assert answer.status_code == 200
        assert 'class="masthead"' in answer.content.decode()
