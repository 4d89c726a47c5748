"""What the sign-in library writes to an account by itself has its event too, and signing in needs none."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.test import Client

from accounts import services
from accounts.models import User
from tests.accounts.test_erasure import Connect
from tests.factories import recorded
from tests.pages.test_accounts import link_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)

OLD, NEW = "an old pass phrase 1", "a new pass phrase 2"


@pytest.fixture
def person() -> User:
    user = services.create_user("erika@lingee.invalid", OLD, by=world.BY)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


@pytest.fixture
def kinds(connect_as: Connect, person: User) -> Any:
    """The kinds of all events about the account after it was made, each with who acted."""

    def found() -> list[str]:
        rows = connect_as("auditor").execute(
            "SELECT kind FROM audit_event WHERE subject_id = %(who)s AND actor_id = %(who)s ORDER BY id",
            {"who": str(person.pseudonym)},
        )
        return [kind for (kind,) in rows]

    return found


def sign_in(client: Client, password: str = OLD) -> bool:
    client.post("/en/account/login/", {"login": "erika@lingee.invalid", "password": password})
    return "_auth_user_id" in client.session


def test_signing_in_is_no_change(client: Client, person: User, kinds: Any) -> None:
    assert sign_in(client)
    assert User.objects.get().last_login is not None
    assert kinds() == []


def test_a_password_changed_in_a_session(client: Client, person: User, kinds: Any) -> None:
    assert sign_in(client)
    form = {"oldpassword": OLD, "password1": NEW, "password2": NEW}
    assert client.post("/en/account/password/change/", form).status_code == 302
    assert kinds() == ["account.password_set"]
    assert sign_in(Client(), NEW)


def test_a_password_set_by_a_mailed_link(client: Client, person: User, kinds: Any) -> None:
    client.post("/en/account/password/reset/", {"email": person.email})
    target = client.get(link_in(mail.outbox[0]), follow=True).redirect_chain[-1][0]
    client.post(target, {"password1": NEW, "password2": NEW})
    assert kinds() == ["account.password_set"]
    assert sign_in(Client(), NEW)


def test_a_weak_hash_is_replaced_at_sign_in(client: Client, person: User, kinds: Any, settings: Any) -> None:
    modern = "django.contrib.auth.hashers.PBKDF2PasswordHasher"
    settings.PASSWORD_HASHERS = [modern, "django.contrib.auth.hashers.MD5PasswordHasher"]
    person.password = make_password(OLD, hasher="md5")
    with recorded(person):
        person.save(update_fields=["password"])
    assert sign_in(client)
    assert kinds() == ["account.password_rehashed"]
    assert User.objects.get().password.startswith("pbkdf2_sha256$")


def test_another_primary_address(client: Client, person: User, kinds: Any) -> None:
    EmailAddress.objects.create(user=person, email="new@lingee.invalid", verified=True)
    assert sign_in(client)
    form = {"email": "new@lingee.invalid", "action_primary": ""}
    client.post("/en/account/email/", form)
    assert User.objects.get().email == "new@lingee.invalid"
    assert kinds() == ["account.email_changed"]


def test_an_address_confirmed_after_sign_up(client: Client, person: User) -> None:
    form = {"email": "max@lingee.invalid", "password1": NEW, "password2": NEW}
    client.post("/en/account/signup/", form)
    client.post(link_in(mail.outbox[0]))
    assert EmailAddress.objects.get(email="max@lingee.invalid").verified
