"""Sessions are listed and ended, by their person or with their access; new devices are told; guessing is limited."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts import services as accounts
from accounts.models import User
from accounts.security import devices
from accounts.security.models import SignIn
from config import clock
from tests.factories import saved
from tests.pages.site import address
from tests.pages.test_accounts import link_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
PASSWORD, NEW = "correct horse battery", "another horse 77 battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1"


@pytest.fixture
def person() -> User:
    user = accounts.create_user("erika@lingee.invalid", PASSWORD, by=world.BY)
    user.language = "en"
    saved(user)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def browser(person: User, agent: str = FIREFOX, password: str = PASSWORD) -> Client:
    client = Client(headers={"User-Agent": agent})
    client.post("/en/account/login/", {"login": person.email, "password": password})
    return client


def is_in(client: Client) -> bool:
    return client.get(address("accounts:organisation")).status_code == 200


def rows(client: Client) -> list[SignIn]:
    found: list[SignIn] = client.get(address("accounts:sessions")).context["rows"]
    return found


@pytest.mark.acceptance("access:1")
def test_one_is_ended_or_all_others(person: User) -> None:
    here, phone, third = browser(person), browser(person, PHONE), browser(person)
    assert [row.device for row in rows(here)].count("Safari, iOS") == 1
    page = here.get(address("accounts:sessions")).content.decode()
    assert "127.0.0.1" not in page  # place-free
    theirs = next(row for row in rows(here) if row.device == "Safari, iOS")
    here.post(address("accounts:end_session", theirs.pk))
    assert [is_in(client) for client in (here, phone, third)] == [True, False, True]
    here.post(address("accounts:end_sessions"))
    assert [is_in(client) for client in (here, phone, third)] == [True, False, False]
    assert len(rows(here)) == 1


def test_nobody_ends_anothers(person: User) -> None:
    mine = browser(person)
    other = accounts.create_user("o@lingee.invalid", PASSWORD, by=world.BY)
    EmailAddress.objects.create(user=other, email=other.email, verified=True, primary=True)
    row = rows(mine)[0]
    assert browser(other).post(address("accounts:end_session", row.pk)).status_code == 404
    browser(other).post(address("accounts:end_sessions"))
    assert is_in(mine)


def test_last_seen_moves_in_steps_of_five_minutes(person: User) -> None:
    client = browser(person)
    first = SignIn.objects.get().seen_at
    with clock.shifted(timedelta(minutes=4)):
        client.get(address("accounts:organisation"))
    assert SignIn.objects.get().seen_at == first
    with clock.shifted(timedelta(minutes=6)):
        client.get(address("accounts:organisation"))
    assert SignIn.objects.get().seen_at > first + timedelta(minutes=5)


@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize("how", ["password change", "password reset", "suspension", "erasure"])
def test_they_all_end_with_what_they_rested_on(person: User, how: str) -> None:
    one, two = browser(person), browser(person, PHONE)
    if how == "password change":
        form = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
        assert one.post("/en/account/password/change/", form).status_code == 302
    elif how == "password reset":
        visitor = Client()
        visitor.post("/en/account/password/reset/", {"email": person.email})
        target = visitor.get(link_in(mail.outbox[-1]), follow=True).redirect_chain[-1][0]
        visitor.post(target, {"password1": NEW, "password2": NEW})
    elif how == "suspension":
        accounts.suspend_user(person, by=world.BY)
    else:
        accounts.erase_person(person, by=world.BY)
    assert [is_in(client) for client in (one, two)] == [False, False]
    assert not SignIn.objects.exists()


# --- devices -----------------------------------------------------------------------------------------


@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize(("language", "words"), [("en", "new device"), ("zh-hans", "新设备")])
def test_a_new_device_is_told_once_in_the_accounts_language(person: User, language: str, words: str) -> None:
    person.language = language
    saved(person)
    first = browser(person)
    assert mail.outbox == []  # the first of all is no news
    again = Client(headers={"User-Agent": FIREFOX})
    again.cookies[devices.COOKIE] = first.cookies[devices.COOKIE].value
    again.post("/en/account/login/", {"login": person.email, "password": PASSWORD})
    assert mail.outbox == []
    browser(person, PHONE)
    (told,) = mail.outbox
    assert words in told.subject
    assert told.to == [person.email]
    assert "Safari, iOS" in told.body
    assert "http" not in told.body  # no link to follow blindly, no secret


def test_a_forged_or_anothers_cookie_is_none(person: User) -> None:
    browser(person)
    for value in ("x", "W10:1tXXXX:forged"):
        client = Client(headers={"User-Agent": FIREFOX})
        client.cookies[devices.COOKIE] = value
        client.post("/en/account/login/", {"login": person.email, "password": PASSWORD})
    assert len(mail.outbox) == 2


# --- guessing and telling apart ----------------------------------------------------------------------


@pytest.mark.acceptance("access:1")
def test_guessing_a_password_is_stopped_even_with_the_right_one(person: User) -> None:
    for _ in range(5):
        browser(person, password="wrong")
    late = Client()
    answer = late.post("/en/account/login/", {"login": person.email, "password": PASSWORD})
    assert "Too many failed" in answer.content.decode()
    assert "_auth_user_id" not in late.session


def test_guessing_a_code_is_stopped(person: User) -> None:
    world.enrolled(person)
    client = browser(person)
    for _ in range(5):
        client.post("/en/account/2fa/authenticate/", {"code": "000000"})
    from tests.pages.site import code_of

    answer = client.post("/en/account/2fa/authenticate/", {"code": code_of(person)})
    assert "Too many failed" in answer.content.decode()
    assert "_auth_user_id" not in client.session


@pytest.mark.acceptance("access:1")
def test_known_and_unknown_addresses_are_answered_alike(person: User) -> None:
    def faces(email: str) -> list[Any]:
        sign_up = Client().post("/en/account/signup/", {"email": email, "password1": NEW, "password2": NEW})
        reset = Client().post("/en/account/password/reset/", {"email": email})
        wrong = Client().post("/en/account/login/", {"login": email, "password": "wrong"})
        text = wrong.content.decode().replace(email, "X")
        alert = text.partition('role="alert"')[2].partition("</div>")[0]
        return [
            *((answer.status_code, answer.headers.get("Location")) for answer in (sign_up, reset)),
            (wrong.status_code, alert),
        ]

    assert faces(person.email) == faces("nobody@lingee.invalid")
