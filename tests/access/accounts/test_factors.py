"""Second factors: compulsory for staff and for whoever submits, set up in the pages, sealed at rest."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.test import Client

from accounts import names
from accounts import services as accounts
from accounts.members.models import Invitation
from accounts.models import Membership, User
from accounts.security import factors, policies
from accounts.security.adapters import FactorAdapter
from accounts.security.services import current_code, ensure_totp
from benchmark.models import TaskSetVersion
from config import clock, vault
from submissions import services as submissions
from submissions.models import Submission
from submissions.problems import Refused
from submissions.webhooks import services as webhooks
from tests.access.oidc.arranged import exchanged
from tests.accounts.test_auditors import appointed
from tests.factories import saved
from tests.pages import site
from tests.pages.site import address, code_of, proofs, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def version() -> TaskSetVersion:
    return site.task_set()


def weak(user: User, *, keeps: bool) -> Client:
    """A browser signed in by password alone, of somebody who has a factor or, unless it `keeps` it, has none."""
    client = signed_in(user)
    session = client.session
    session.update(proofs(user, "password"))
    session.save()
    if not keeps:
        Authenticator.objects.filter(user=user).delete()
    return client


def confirming(vendor: world.Vendor, version: TaskSetVersion) -> str:
    upload = vendor.upload(vendor.version(vendor.harness()))
    return f"{address('submissions:confirm', upload.id)}?task_set={version.label}"


# --- who needs one -----------------------------------------------------------------------------------


@pytest.mark.acceptance("access:1")
def test_without_one_nobody_submits_and_is_led_to_set_one_up(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    path = confirming(vendor, version)
    client = weak(vendor.user, keeps=False)
    for place in (path, address("submissions:new_submission"), address("submissions:new_token")):
        for answer in (client.get(place), client.post(place, {"task_set": version.label})):
            assert answer.headers["Location"] == "/en/account/2fa/"
    assert "needs a second step" in client.get("/en/account/2fa/").content.decode()
    assert not Submission.objects.exists()
    for name in ("leaderboard:home", "submissions:submissions", "submissions:tokens"):
        assert client.get(address(name)).status_code == 200  # looking needs none


@pytest.mark.acceptance("access:1")
def test_a_session_without_the_second_step_is_asked_for_it(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    path = confirming(vendor, version)
    client = weak(vendor.user, keeps=True)
    answer = client.get(path)
    assert answer.headers["Location"].startswith("/en/account/2fa/reauthenticate/?next=")
    done = client.post(answer.headers["Location"], {"code": code_of(vendor.user)})
    assert done.headers["Location"] == path
    assert client.get(path).status_code == 200


@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize("keeps", [True, False])
def test_the_api_refuses_such_a_session_with_its_code(
    vendor: world.Vendor, version: TaskSetVersion, keeps: bool
) -> None:
    harness = vendor.harness()
    order = vendor.order(version, harness)
    client = weak(vendor.user, keeps=keeps)
    answer = client.post(
        "/api/v1/submissions",
        world.body_of(order),
        content_type="application/json",
        headers={"Idempotency-Key": uuid.uuid4().hex},
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "mfa_required")
    assert client.get("/api/v1/submissions").status_code == 200
    assert not Submission.objects.exists()
    if keeps:
        session = client.session
        session.update(proofs(vendor.user, "password", "mfa"))
        session.save()
        again = client.post(
            "/api/v1/submissions",
            world.body_of(order),
            content_type="application/json",
            headers={"Idempotency-Key": uuid.uuid4().hex},
        )
        assert again.status_code == 202


@pytest.mark.acceptance("access:1")
def test_webhooks_and_publishers_are_looked_at_without_and_changed_only_with_one(
    vendor: world.Vendor,
) -> None:
    hook, _secret = webhooks.create(
        vendor.organisation, url="https://hooks.example.com/x", kinds=["test"], by=vendor.actor
    )
    publisher = exchanged(vendor, vendor.harness()).grant.publisher_id
    client = weak(vendor.user, keeps=False)
    page = address("submissions:webhook", hook.id)
    assert client.get(page).status_code == 200
    asked = [client.get(address("submissions:new_webhook"))]
    asked += [client.post(page, {"action": act}) for act in ("test", "replay", "switch_on", "remove")]
    asked.append(client.post(address("submissions:remove_publisher", publisher)))
    assert {answer.headers["Location"] for answer in asked} == {"/en/account/2fa/"}
    for method, path in (
        ("post", "webhooks"),
        ("delete", f"webhooks/{hook.id}"),
        ("post", f"webhooks/{hook.id}/test"),
        ("post", f"deliveries/{uuid.uuid4()}/replay"),
    ):
        answer = getattr(client, method)(f"/api/v1/{path}", headers={"Idempotency-Key": uuid.uuid4().hex})
        assert (answer.status_code, answer.json()["code"]) == (403, "mfa_required"), path
    hook.refresh_from_db()
    assert hook.removed_at is None
    assert not hook.deliveries.exists()


def test_the_services_refuse_whatever_view_calls_them(vendor: world.Vendor, version: TaskSetVersion) -> None:
    order = vendor.order(version, vendor.harness())
    Authenticator.objects.filter(user=vendor.user).delete()
    with pytest.raises(Refused) as refused:
        submissions.submit(order, by=vendor.actor, key="k")
    assert refused.value.refusal.code == "mfa_required"
    with pytest.raises(factors.FactorMissing):
        accounts.issue_token(vendor.user, vendor.organisation, name="x", scopes=["read"], by=world.BY)


@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("who", ["staff", "auditor"])
def test_every_page_of_the_console_needs_it(who: str, keeps: bool) -> None:
    if who == "staff":
        person = accounts.create_user("s@lingee.invalid", None, by=world.BY, staff=True)
        names_ = ["submissions", "organisations", "workers", "duties", "duty_new"]
        paths = [address(f"console:{name}") for name in names_]
    else:
        person = appointed().person
        paths = [address(f"auditing:{name}") for name in ("explorer", "checkpoints", "statistics")]
    client = weak(person, keeps=keeps)
    for path in paths:
        there = client.get(path).headers["Location"]
        assert there.startswith("/en/account/2fa/reauthenticate/" if keeps else "/en/account/2fa/")
    assert (
        weak(world.person(), keeps=True).get(paths[0]).status_code == 404
    )  # a stranger learns nothing of it


@pytest.mark.parametrize(
    ("enrolled", "used", "standing"),
    [(False, False, "none"), (False, True, "none"), (True, False, "unused"), (True, True, "strong")],
)
def test_standing(enrolled: bool, used: bool, standing: str) -> None:
    assert policies.standing(enrolled=enrolled, used=used) == standing


# --- setting one up ----------------------------------------------------------------------------------


def test_from_the_page_that_asked_through_app_and_codes_back(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    path = confirming(vendor, version)
    client = weak(vendor.user, keeps=False)
    EmailAddress.objects.create(user=vendor.user, email=vendor.user.email, verified=True, primary=True)
    client.get(path)
    page = client.get("/en/account/2fa/totp/activate/").content.decode()
    assert "data:" not in page
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page).group(1)  # type: ignore[union-attr]
    picture = client.get("/en/account/2fa/totp/picture/")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert "no-store" in picture.headers["Cache-Control"]
    answer = client.post("/en/account/2fa/totp/activate/", {"code": current_code(secret)})
    assert answer.headers["Location"] == "/en/account/2fa/recovery-codes/"
    codes = client.get(answer.headers["Location"]).content.decode()
    assert len(codes_in(codes)) == 10
    assert client.get("/en/account/2fa/totp/picture/").status_code == 404
    assert client.post(address("accounts:enrolled")).headers["Location"] == path
    assert client.get(path).status_code == 200  # the session counts as signed in with it


def codes_in(page: str) -> list[str]:
    return re.findall(r"\d{8}", page.partition('<pre class="codes"')[2].partition("</pre>")[0])


def test_codes_are_shown_once_and_made_anew(vendor: world.Vendor) -> None:
    client = signed_in(vendor.user)
    client.post("/en/account/2fa/recovery-codes/generate/")
    first = client.get("/en/account/2fa/recovery-codes/").content.decode()
    second = client.get("/en/account/2fa/recovery-codes/").content.decode()
    shown = set(codes_in(first))
    assert len(shown) == 10
    assert "download=" in first
    assert codes_in(second) == []
    assert not [code for code in shown if code in second]
    client.post("/en/account/2fa/recovery-codes/generate/")
    anew = client.get("/en/account/2fa/recovery-codes/").content.decode()
    assert len(codes_in(anew)) == 10
    assert not shown & set(codes_in(anew))


def test_a_recovery_code_signs_in_once(vendor: world.Vendor) -> None:
    able(vendor.user)
    maker = signed_in(vendor.user)
    maker.post("/en/account/2fa/recovery-codes/generate/")
    page = maker.get("/en/account/2fa/recovery-codes/").content.decode()
    code = codes_in(page)[0]
    for works in (True, False):
        browser = Client()
        browser.post("/en/account/login/", {"login": vendor.user.email, "password": PASSWORD})
        browser.post("/en/account/2fa/authenticate/", {"code": code})
        assert ("_auth_user_id" in browser.session) is works


def able(user: User) -> None:
    """They can sign in by the form."""
    user.set_password(PASSWORD)
    saved(user)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)


def test_a_code_of_the_app_works_once(vendor: world.Vendor) -> None:
    able(vendor.user)
    code = code_of(vendor.user)
    for works in (True, False):
        browser = Client()
        browser.post("/en/account/login/", {"login": vendor.user.email, "password": PASSWORD})
        browser.post("/en/account/2fa/authenticate/", {"code": code})
        assert ("_auth_user_id" in browser.session) is works


# --- at rest -----------------------------------------------------------------------------------------


def test_secrets_are_sealed(vendor: world.Vendor, settings: Any) -> None:
    secret = ensure_totp(vendor.user)
    stored = str(Authenticator.objects.filter(user=vendor.user).values().get())
    assert secret not in stored
    sealed = FactorAdapter().encrypt(secret)
    assert FactorAdapter().decrypt(sealed) == secret
    assert FactorAdapter().encrypt(secret) != sealed
    settings.VAULT_KEY_PEOPLE = b"x" * 32
    with pytest.raises(vault.SealBroken):
        FactorAdapter().decrypt(sealed)
    settings.VAULT_KEY_PEOPLE = None
    with pytest.raises(names.NoPeopleKey):
        FactorAdapter().encrypt(secret)


def test_the_command_prints_the_code(vendor: world.Vendor, capsys: pytest.CaptureFixture[str]) -> None:
    secret = ensure_totp(vendor.user)
    call_command("totp_code", secret)
    assert capsys.readouterr().out.strip() == current_code(secret)
    with pytest.raises(CommandError, match="no secret"):
        call_command("totp_code", "not base32!")


# --- fresh sign-ins ----------------------------------------------------------------------------------


@pytest.mark.acceptance("access:1")
def test_sensitive_pages_ask_again_after_a_quarter_of_an_hour(vendor: world.Vendor) -> None:
    able(vendor.user)
    own = Membership.objects.get(user=vendor.user)
    paths = [
        address("submissions:new_token"),
        address("submissions:revoke_token", vendor.token.public_id),
        address("submissions:new_webhook"),
        address("submissions:new_publisher"),
        address("accounts:end_member", own.pk),
        "/en/account/2fa/totp/deactivate/",
        "/en/account/2fa/recovery-codes/generate/",
    ]
    client = signed_in(vendor.user)
    for path in paths:
        assert client.get(path).status_code == 200, path
    session = client.session
    with clock.shifted(-timedelta(minutes=14, seconds=30)):
        session.update(proofs(vendor.user, "password", "mfa"))
    session.save()
    assert client.get(paths[0]).status_code == 200
    with clock.shifted(-timedelta(minutes=15, seconds=1)):
        session.update(proofs(vendor.user, "password", "mfa"))
    session.save()
    for path in paths:
        there = client.get(path).headers.get("Location", "")
        assert there.startswith("/en/account/reauthenticate/?next="), path
    members = address("accounts:members")
    assert client.get(members).status_code == 200  # looking asks for nothing
    held = client.post(members, {"address": "x@lingee.invalid", "role": "viewer"})
    assert held.headers["Location"].startswith("/en/account/reauthenticate/?next=")
    assert not Invitation.objects.exists()
    client.post(f"/en/account/reauthenticate/?next={paths[0]}", {"password": PASSWORD})
    for path in paths:
        assert client.get(path).status_code == 200, path
