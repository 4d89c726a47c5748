"""What somebody changes about their second factors and sessions is in the log, by the same transaction, secrets not."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.test import Client

from accounts import services as accounts
from accounts.models import User
from accounts.security.models import SignIn
from accounts.security.services import current_code
from audit import log
from tests.access.accounts.test_factors import codes_in
from tests.accounts.test_erasure import Connect
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
ACTIVATE, DEACTIVATE = "/en/account/2fa/totp/activate/", "/en/account/2fa/totp/deactivate/"
CODES = "/en/account/2fa/recovery-codes/"


@pytest.fixture
def person() -> User:
    user = accounts.create_user("erika@lingee.invalid", None, by=world.BY)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


@pytest.fixture
def told(connect_as: Connect, person: User) -> Any:
    """What the log says that the person did to their account, oldest first."""

    def found() -> list[tuple[str, dict[str, Any]]]:
        rows = connect_as("auditor").execute(
            "SELECT kind, body FROM audit_event WHERE subject_id = %(who)s AND actor_id = %(who)s ORDER BY id",
            {"who": str(person.pseudonym)},
        )
        return [(kind, json.loads(body)["data"]) for kind, body in rows]

    return found


def enrol(client: Client) -> str:
    page = client.get(ACTIVATE).content.decode()
    secret: str = re.search(r"<code>([A-Z2-7]{32})</code>", page).group(1)  # type: ignore[union-attr]
    assert client.post(ACTIVATE, {"code": current_code(secret)}).status_code == 302
    return secret


def fresh_client(person: User) -> Client:
    client = signed_in(person)
    Authenticator.objects.filter(user=person).delete()  # `signed_in` set one up
    return client


@pytest.mark.acceptance("access:1")
def test_an_app_comes_with_codes_and_goes_with_them(person: User, told: Any) -> None:
    client = fresh_client(person)
    secret = enrol(client)
    assert told() == [("account.factor_enrolled", {"factor": "totp"}), ("account.recovery_codes_made", {})]
    codes = codes_in(client.get(CODES).content.decode())
    client.post(f"{CODES}generate/")
    client.post(DEACTIVATE)
    kinds = [kind for kind, _data in told()][2:]
    assert kinds == ["account.recovery_codes_made", "account.factor_removed"]
    assert not Authenticator.objects.filter(user=person).exists()
    written = json.dumps(told())
    assert len(codes) == 10
    assert not [word for word in (secret, *codes) if word in written]


def test_a_passkey_that_is_removed_is_told_and_looking_is_not(person: User, told: Any) -> None:
    client = signed_in(person)
    key = Authenticator.objects.create(
        user=person, type="webauthn", data={"name": "Laptop", "credential": {}}
    )
    page = f"/en/account/2fa/webauthn/keys/{key.pk}/remove/"
    assert client.get(page).status_code == 200
    assert told() == []
    assert client.post(page).status_code == 302
    assert told() == [("account.factor_removed", {"factor": "webauthn"})]
    assert client.post(page).status_code == 404  # once
    assert len(told()) == 1


@pytest.mark.parametrize("page", [DEACTIVATE, f"{CODES}generate/", "sessions"])
def test_what_the_log_does_not_take_does_not_happen(
    person: User, told: Any, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _other = signed_in(person), signed_in(person)
    SignIn.objects.create(user=person, session_key="elsewhere", device="Firefox, Linux")
    before = sorted(Authenticator.objects.filter(user=person).values_list("type", flat=True))

    def broken(*_event: object, **_actor: object) -> None:
        raise RuntimeError("the log is away")

    monkeypatch.setattr(log, "append", broken)
    path = address("accounts:end_sessions") if page == "sessions" else page
    assert client.post(path).status_code == 500
    assert sorted(Authenticator.objects.filter(user=person).values_list("type", flat=True)) == before
    assert SignIn.objects.filter(session_key="elsewhere").exists()
    assert told() == []


@pytest.mark.acceptance("access:1")
def test_sessions_that_are_ended_are_counted_and_none_is_no_event(person: User, told: Any) -> None:
    client = signed_in(person)
    rows = [SignIn.objects.create(user=person, session_key=f"key {n}", device="x") for n in range(3)]
    client.post(address("accounts:end_session", rows[0].pk))
    client.post(address("accounts:end_sessions"))
    client.post(address("accounts:end_sessions"))
    ended = [("account.sessions_ended", {"sessions": 1}), ("account.sessions_ended", {"sessions": 2})]
    assert told() == ended
    stranger = signed_in(world.person())
    row = SignIn.objects.create(user=person, session_key="mine", device="x")
    assert stranger.post(address("accounts:end_session", row.pk)).status_code == 404
    assert told() == ended
