"""Personal tokens: every refusal has its own code and a page of help, and nothing but a hash of a token is kept."""

from __future__ import annotations

import json
import re
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db import connections
from django.test import Client

from accounts import services as accounts
from accounts.models import ApiToken, LeakReport, Membership, Organisation
from accounts.notices import delivery
from accounts.tasks import announce_token_ends, revoke_leaked
from accounts.tokens import text
from config import clock
from config.ids import opaque_id
from tests.factories import recorded, saved
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.world import Answer, Api, Vendor

pytestmark = pytest.mark.django_db(transaction=True)
FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("tokens-*.json"))
PASSWORD = "a long enough pass phrase 1"


@pytest.fixture
def vendor() -> Vendor:
    return world.vendor()


def refused(answer: Answer, status: int, code: str) -> None:
    """The code, and a page of help for people that is there and speaks of it."""
    assert (answer.status, answer.code) == (status, code), answer.body
    page = Client().get(answer.body["help"])
    assert page.status_code == 200
    assert code in page.content.decode()


def issued(of: Vendor, **limits: Any) -> Api:
    limits.setdefault("scopes", list(ApiToken.Scope.values))
    return Api(accounts.issue_token(of.user, of.organisation, name="t", by=world.BY, **limits)[1])


# --- the text ----------------------------------------------------------------------------------------


def test_the_checksum_is_crc32_in_base_62() -> None:
    """The check value of CRC-32/ISO-HDLC for 123456789 is 0xCBF43926 = 3421780262."""
    digits = text.checksum("123456789")
    number = 0
    for digit in digits:
        number = number * 62 + text.ALPHABET.index(digit)
    assert (len(digits), number) == (6, 0xCBF43926)


def test_a_slip_in_copying_is_told_from_an_unknown_token_without_a_look(
    vendor: Vendor, django_assert_num_queries: Any
) -> None:
    good = vendor.api.secret
    assert re.fullmatch(r"lgb_[0-9A-Za-z]{42}", good)
    other = "a" if good[10] != "a" else "b"
    slips = [
        good[:10] + other + good[11:],
        good[:-1],
        good + "x",
        good[4:],
        good.upper(),
        f"{good} {good}",
        "",
    ]
    swapped = good[:20] + good[21] + good[20] + good[22:]
    slips += [swapped] if swapped != good else []
    for slip in slips:
        with django_assert_num_queries(0):
            answer = Api(slip or " ").get("harnesses")
        refused(answer, 401, "token_malformed")
    refused(Api(text.new_text()).get("harnesses"), 401, "token_invalid")


@pytest.mark.case("G39")
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.stem)
def test_tokens_of_every_release_authenticate(vendor: Vendor, fixture: Path) -> None:
    """The rows as that release stored them."""
    for row in json.loads(fixture.read_text())["tokens"]:
        with recorded(vendor.token):
            ApiToken.objects.filter(pk=vendor.token.pk).update(
                digest=row["digest"], token_key=row["token_key"], expiry=clock.now() + timedelta(days=1)
            )
        vendor.token = ApiToken.objects.get(pk=row["digest"])
        assert Api(row["secret"]).get("harnesses").status == 200
        wrong = row["secret"][:-1] + ("0" if row["secret"][-1] != "0" else "1")
        assert Api(wrong).get("harnesses").status == 401


def test_the_present_format_is_among_the_fixtures() -> None:
    rows = [row for path in FIXTURES for row in json.loads(path.read_text())["tokens"]]
    shapes = {re.sub(r"[0-9A-Za-z]", "x", row["secret"]) for row in rows}
    assert re.sub(r"[0-9A-Za-z]", "x", text.new_text()) in shapes


def about_tokens() -> list[Any]:
    """The mails that were sent about tokens, in whichever language."""
    return [message for message in mail.outbox if re.search("token|令牌", str(message.subject))]


# --- refusals ----------------------------------------------------------------------------------------


@pytest.mark.case("G35")
def test_each_way_to_be_refused_has_its_own_code(vendor: Vendor) -> None:
    api = vendor.api
    with clock.shifted(timedelta(days=91)):
        refused(api.get("harnesses"), 401, "token_expired")
    refused(issued(vendor, scopes=["read"]).post("harnesses", {"name": "a"}), 403, "scope_missing")
    refused(Api("lgb_0").get("harnesses"), 401, "token_malformed")
    refused(Api(text.new_text()).get("harnesses"), 401, "token_invalid")
    revoked = issued(vendor)
    accounts.revoke_token(ApiToken.objects.exclude(pk=vendor.token.pk).latest("created"), by=world.BY)
    refused(revoked.get("harnesses"), 401, "token_revoked")
    frozen = world.vendor()
    accounts.suspend_organisation(frozen.organisation, by=world.BY)
    refused(frozen.api.post("harnesses", {"name": "a"}), 403, "organisation_suspended")
    gone = world.colleague(vendor)
    with recorded(vendor.organisation):
        Membership.objects.filter(user=gone.user).delete()
    refused(gone.api.get("harnesses"), 401, "token_orphaned")
    accounts.suspend_user(vendor.user, by=world.BY)
    refused(api.get("harnesses"), 401, "account_suspended")


@pytest.mark.case("G40")
def test_a_token_for_one_harness_says_which(vendor: Vendor) -> None:
    first, second = vendor.harness("first"), vendor.harness("second")
    bound = issued(vendor, harness_id=second.id)
    answer = bound.get(f"harnesses/{first.id}", headers={"accept-language": "en"})
    refused(answer, 403, "token_harness_mismatch")
    assert answer.body["detail"] == "This token is limited to harness second."


def test_a_suspended_person_is_refused_at_once_by_session_too(vendor: Vendor) -> None:
    browser = signed_in(vendor.user)
    assert browser.get("/api/v1/harnesses").status_code == 200
    accounts.suspend_user(vendor.user, by=world.BY)
    answer = browser.get("/api/v1/harnesses")
    assert (answer.status_code, answer.json()["code"]) == (401, "account_suspended")
    assert browser.get("/en/v/tokens/").status_code == 403


# --- use, and how tokens end ---------------------------------------------------------------------------


def test_the_last_use_is_kept_to_the_minute(vendor: Vendor) -> None:
    def used() -> Any:
        return ApiToken.objects.get(pk=vendor.token.pk).last_used_at

    assert used() is None
    noon = clock.now()
    for seconds, kept in ((0, 0), (30, 0), (61, 61)):
        with clock.frozen(noon + timedelta(seconds=seconds)):
            vendor.api.get("harnesses")
        assert used() == noon + timedelta(seconds=kept)
    with clock.frozen(noon + timedelta(days=91)):
        vendor.api.get("harnesses")
    assert used() == noon + timedelta(seconds=61), "a refused use is none"


def test_another_password_ends_every_token_and_says_why(vendor: Vendor, connect_as: Any) -> None:
    second = issued(vendor)
    accounts.set_password(vendor.user, PASSWORD, by=world.BY)
    assert vendor.api.get("harnesses").status == 200, "the first password replaces none"
    mate = world.colleague(vendor)
    accounts.set_password(vendor.user, PASSWORD + "x", by=world.BY)
    for api in (vendor.api, second):
        refused(api.get("harnesses"), 401, "token_revoked")
    assert mate.api.get("harnesses").status == 200
    causes = set(ApiToken.objects.filter(user=vendor.user).values_list("revoked_cause", flat=True))
    assert causes == {"password_changed"}
    rows = connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind = 'token.revoked'")
    assert [json.loads(body)["data"]["cause"] for (body,) in rows] == ["password_changed"] * 2


def test_a_reset_by_mail_ends_them_too(vendor: Vendor) -> None:
    """Through the sign-in library's own adapter, as its pages do."""
    from accounts.adapters import AccountAdapter

    AccountAdapter().set_password(vendor.user, PASSWORD)
    assert vendor.api.get("harnesses").status == 200
    AccountAdapter().set_password(vendor.user, PASSWORD + "x")
    refused(vendor.api.get("harnesses"), 401, "token_revoked")


@pytest.fixture
def leaked_tickets(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr("config.celery.send_ticket", lambda name, *args, queue: sent.append(name))
    return sent


def test_a_leaked_token_is_revoked_and_its_holder_told(vendor: Vendor, leaked_tickets: list[str]) -> None:
    answers = {
        what: Api("").post("tokens/leaked", {"token": sent}, key="")
        for what, sent in {
            "live": vendor.api.secret,
            "unknown": text.new_text(),
            "none": "no token at all",
        }.items()
    }
    assert {(answer.status, json.dumps(answer.body)) for answer in answers.values()} == {
        (202, '{"received": true}')
    }
    assert leaked_tickets == ["accounts.tasks.revoke_leaked"] * 3
    assert vendor.api.secret not in json.dumps(list(LeakReport.objects.values("digest", "token_key")))
    revoke_leaked()
    refused(vendor.api.get("harnesses"), 401, "token_revoked")
    assert ApiToken.objects.get(pk=vendor.token.pk).revoked_cause == "leaked"
    assert not LeakReport.objects.exists()
    Api("").post("tokens/leaked", {"token": vendor.api.secret}, key="")
    revoke_leaked()
    delivery.deliver_due()
    [sent] = about_tokens()
    assert sent.to == [vendor.user.email]
    assert vendor.token.name in sent.subject
    assert vendor.api.secret not in sent.subject + str(sent.body)
    assert "leaked" in signed_in(vendor.user).get("/en/v/tokens/").content.decode()


def test_the_same_statements_run_whatever_is_reported(
    vendor: Vendor, leaked_tickets: list[str], django_assert_num_queries: Any
) -> None:
    for sent in (vendor.api.secret, text.new_text(), "x", "lgb_" + "0" * 64):
        with django_assert_num_queries(1):
            assert Api("").post("tokens/leaked", {"token": sent}, key="").status == 202
    refused(Api("").post("tokens/leaked", {"token": "x" * 201}, key=""), 422, "invalid_field")
    refused(Api("").post("tokens/leaked", {}, key=""), 422, "invalid_field")


def test_reports_are_limited_by_address(vendor: Vendor, settings: Any, leaked_tickets: list[str]) -> None:
    settings.API_RATES = {**settings.API_RATES, "anonymous": 2}
    with clock.frozen(clock.now()):
        answers = [Api("").post("tokens/leaked", {"token": "x"}, key="") for _ in range(3)]
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert int(answers[2].headers["Retry-After"]) >= 1


# --- announced ends --------------------------------------------------------------------------------------


def told() -> list[tuple[str, str]]:
    """Deliver what is due; (recipient, subject) of each mail about tokens, and forget them."""
    announce_token_ends()
    delivery.deliver_due()
    found = [(message.to[0], str(message.subject)) for message in about_tokens()]
    mail.outbox.clear()
    return found


@pytest.mark.case("G35")
def test_the_holder_is_told_14_and_3_days_before_and_at_the_end_once_each(vendor: Vendor) -> None:
    vendor.user.language = "en"
    saved(vendor.user)
    expiry = ApiToken.objects.get(pk=vendor.token.pk).expiry
    assert expiry is not None
    expected = {
        -15: [],
        -14: ["A token expires: test"],
        -13: [],
        -3: ["A token expires: test"],
        -2: [],
        0: ["A token has expired: test"],
        1: [],
        30: [],
    }
    for days, subjects in expected.items():
        with clock.frozen(expiry + timedelta(days=days, seconds=1)):
            found = told()
            assert told() == [], "a doubled tick tells nobody twice"
        assert [subject.removeprefix("[Lingee Bench] ") for _, subject in found] == subjects, days
        assert {to for to, _ in found} <= {vendor.user.email}


def test_nobody_is_told_of_an_end_that_does_not_concern_them(vendor: Vendor) -> None:
    week = issued(vendor, lifetime=timedelta(days=7))
    assert week.get("harnesses").status == 200
    assert told() == [], "whoever asks for a week knows"
    gone, frozen = world.colleague(vendor), world.colleague(vendor)
    with recorded(vendor.organisation):
        Membership.objects.filter(user=gone.user).delete()
    accounts.suspend_user(frozen.user, by=world.BY)
    accounts.revoke_token(vendor.token, by=world.BY)
    with clock.shifted(timedelta(days=87)):
        assert told() == []
    with clock.shifted(timedelta(days=4, minutes=1)):
        assert len(told()) == 1, "but of the last three days they are"


def test_after_a_long_silence_only_what_is_still_true_is_said(vendor: Vendor) -> None:
    with clock.shifted(timedelta(days=88)):
        assert len(told()) == 1


def test_two_ticks_at_once_tell_once(vendor: Vendor) -> None:
    barrier = threading.Barrier(4)

    def tick() -> None:
        try:
            with clock.shifted(timedelta(days=80)):
                barrier.wait(10)
                announce_token_ends()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=tick) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with clock.shifted(timedelta(days=80)):
        delivery.deliver_due()
    assert len(about_tokens()) == 1


# --- over the API, and who sees whose ----------------------------------------------------------------------


def by_session(user: Any) -> Any:
    browser = signed_in(user)

    def call(method: str, path: str, body: Any = None) -> Answer:
        data = "" if body is None else json.dumps(body)
        found = browser.generic(method, f"/api/v1/{path}", data, content_type="application/json")
        return Answer(found.status_code, found.json(), found.headers)

    return call


def test_tokens_are_made_and_revoked_by_session_only(vendor: Vendor) -> None:
    call = by_session(vendor.user)
    harness = vendor.harness()
    body = {"name": "ci", "scopes": ["submit", "read"], "harness": str(harness.id), "days": 7}
    made = call("POST", "tokens", body)
    assert made.status == 201
    assert made.headers["Cache-Control"] == "no-store"
    token = Api(made.body["token"])
    assert token.get("quota").status == 200
    for method, path in (("GET", "tokens"), ("POST", "tokens"), ("DELETE", f"tokens/{made.body['id']}")):
        refused(token.call(method, path, body), 403, "credential_not_permitted")
    listed = call("GET", "tokens").body["tokens"]
    assert {row["name"] for row in listed} == {"ci", "test"}
    assert all("token" not in row for row in listed)
    revoked = call("DELETE", f"tokens/{made.body['id']}")
    assert (revoked.status, revoked.body["revoked_cause"]) == (200, "revoked")
    refused(token.get("quota"), 401, "token_revoked")
    refused(call("POST", "tokens", {**body, "days": 91}), 422, "invalid_field")
    refused(call("POST", "tokens", {**body, "scopes": ["all"]}), 422, "invalid_field")
    foreign = {**body, "harness": str(world.vendor().harness().id)}
    refused(call("POST", "tokens", foreign), 422, "unknown_reference")
    missing = call("DELETE", f"tokens/{opaque_id()}")
    assert call("DELETE", f"tokens/{world.vendor().token.public_id}").body == missing.body


def test_an_owner_revokes_every_token_and_the_others_their_own(vendor: Vendor) -> None:
    mate, organisation = world.colleague(vendor), Organisation.objects.get(pk=vendor.organisation.pk)
    owner, submitter = by_session(vendor.user), by_session(mate.user)
    assert len(owner("GET", "tokens").body["tokens"]) == 2
    assert [row["id"] for row in submitter("GET", "tokens").body["tokens"]] == [str(mate.token.public_id)]
    refused(submitter("DELETE", f"tokens/{vendor.token.public_id}"), 404, "not_found")
    page = address("submissions:revoke_token", vendor.token.public_id)
    assert signed_in(mate.user).post(page).status_code == 404
    assert vendor.api.get("harnesses").status == 200
    assert owner("DELETE", f"tokens/{mate.token.public_id}").status == 200
    refused(mate.api.get("harnesses"), 401, "token_revoked")
    viewer = world.person()
    accounts.add_member(organisation, viewer, Membership.Role.VIEWER, by=world.BY)
    refused(
        by_session(viewer)("POST", "tokens", {"name": "a", "scopes": ["read"]}), 403, "role_may_not_submit"
    )
    answer = signed_in(viewer).post("/en/v/tokens/new/", {"name": "a", "scopes": ["read"], "days": "7"})
    assert answer.status_code == 403
    assert not ApiToken.objects.filter(user=viewer).exists()
