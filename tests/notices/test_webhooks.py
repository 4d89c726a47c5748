"""Webhooks: signed, retried, replayable, told of states and never of values, and to public addresses only."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import connections

from accounts.models import Membership
from accounts.notices.models import Notice
from benchmark.models import TaskSetVersion
from config import addresses, clock
from config.processes import ROOT
from submissions import services as submissions
from submissions.models import Submission, WebhookDelivery, WebhookEndpoint
from submissions.webhooks import delivery, sending, services
from submissions.webhooks.kinds import MOST, PATIENCE, PAUSES, Kind
from tests.factories import saved
from tests.notices.receiver import Receiver, receiver
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.django_db
KINDS = [Kind.SUBMISSION_STATE.value, Kind.SUBMISSION_RELEASED.value]


@pytest.fixture(autouse=True)
def _this_machine_may_be_asked(settings: Any) -> None:
    settings.OUTGOING_LOOPBACK = True


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def version() -> TaskSetVersion:
    return site.task_set(in_flight=9, line=9, account=9, lineage=9)


def hooked(vendor: world.Vendor, url: str, kinds: list[str] = KINDS) -> tuple[WebhookEndpoint, str]:
    return services.create(vendor.organisation, url=url, kinds=kinds, by=vendor.actor)


def documented() -> Callable[..., bool]:
    """The function of docs/webhooks.md."""
    text = (ROOT / "docs/webhooks.md").read_text()
    space: dict[str, Any] = {}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1), space)
    found: Callable[..., bool] = space["is_ours"]
    return found


def test_a_whole_submission_as_a_webhook_hears_it(
    vendor: world.Vendor, version: TaskSetVersion, there: Receiver
) -> None:
    _row, secret = hooked(vendor, there.url)
    found = bring_to(vendor.submit(version, vendor.harness()), "grading")
    site.release(found)
    submissions.conclude(found, "complete", by=world.BY)
    delivery.deliver_due()
    bodies = [json.loads(body) for _headers, body in there.taken]
    states = [body["data"]["state"] for body in bodies if body["type"] == "submission.state"]
    assert states == ["checking", "preflight", "queued", "running", "grading", "complete"]
    assert [body["type"] for body in bodies].count("submission.released") == 1
    assert {body["data"]["submission"] for body in bodies} == {str(found.id)}
    assert vendor.api.get(bodies[0]["data"]["url"].partition("/api/v1/")[2]).status == 200
    told = {"submission", "harness", "harness_version", "task_set", "state", "code", "url"}
    assert all(set(body) == {"id", "type", "created", "data"} for body in bodies)
    assert all(set(body["data"]) == told for body in bodies), "ids, a coarse state and a link; no value"
    is_ours = documented()
    for headers, body in there.taken:
        assert is_ours(secret, headers["Lingee-Signature"], body)
        assert not is_ours(secret, headers["Lingee-Signature"], body + b" ")
        assert not is_ours(secret + "x", headers["Lingee-Signature"], body)
        assert headers["Host"] == f"localhost:{there.port}"
    with clock.shifted(timedelta(hours=1)):
        services.test(_row)
        delivery.deliver_due()
    headers, body = there.taken[-1]
    assert not is_ours(secret, headers["Lingee-Signature"], body), "an hour ahead is not now"


def test_another_vendors_submission_and_unwanted_kinds_are_not_sent(
    vendor: world.Vendor, version: TaskSetVersion, there: Receiver
) -> None:
    hooked(world.vendor(), there.url)
    hooked(vendor, there.url, [Kind.SUBMISSION_RELEASED.value])
    bring_to(vendor.submit(version, vendor.harness()), "checking")
    assert delivery.deliver_due() == 0
    assert not WebhookDelivery.objects.exists()


@pytest.mark.parametrize("status", [301, 307, 400, 404, 500, 503])
def test_what_is_not_accepted_comes_again_later_and_later_and_is_given_up(
    vendor: world.Vendor, there: Receiver, status: int
) -> None:
    row, _secret = hooked(vendor, there.url)
    there.status, there.location = status, "http://localhost:1/"
    sent = services.test(row)
    moment = timedelta(0)
    for number, pause in enumerate(PAUSES, 1):
        with clock.shifted(moment):
            assert delivery.deliver_due() == 0
            assert delivery.deliver_due() == 0
        sent.refresh_from_db()
        assert (sent.attempts, sent.last_status, len(there.taken)) == (number, status, number)
        moment += pause + timedelta(seconds=1)
    with clock.shifted(moment):
        delivery.deliver_due()
    sent.refresh_from_db()
    assert (sent.due_at, sent.delivered_at, sent.attempts) == (None, None, len(PAUSES) + 1)
    there.status = 204
    answer = signed_in(vendor.user).post(
        address("submissions:webhook", row.pk), {"action": "replay", "delivery": str(sent.pk)}
    )
    assert answer.status_code == 302
    assert delivery.deliver_due() == 1
    assert len({json.loads(body)["id"] for _headers, body in there.taken}) == 1


def test_an_address_dead_for_days_is_switched_off_the_owner_told_and_on_again(
    vendor: world.Vendor, there: Receiver
) -> None:
    row, _secret = hooked(vendor, there.url)
    there.status = 500
    for days in (timedelta(0), PATIENCE - timedelta(hours=1), PATIENCE + timedelta(hours=1)):
        with clock.shifted(days):
            row.refresh_from_db()
            assert row.disabled_at is None
            services.test(row)
            delivery.deliver_due()
    row.refresh_from_db()
    assert row.disabled_at is not None
    assert Notice.objects.filter(person=vendor.user, kind="webhook.disabled").count() == 1
    browser, page = signed_in(vendor.user), address("submissions:webhook", row.pk)
    assert browser.post(page, {"action": "test"}).status_code == 409
    assert browser.post(page, {"action": "switch_on"}).status_code == 302
    there.status = 200
    services.test(row)
    assert delivery.deliver_due() == 1


PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.9", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
    *("224.0.0.1", "::1", "fe80::1", "fc00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"),
]


@pytest.mark.parametrize("answer", [*([one] for one in PRIVATE), ["93.184.216.34", "10.0.0.1"], []])
def test_names_that_lead_inside_are_never_asked(
    vendor: world.Vendor, answer: list[str], settings: Any, monkeypatch: Any
) -> None:
    settings.OUTGOING_LOOPBACK = False
    monkeypatch.setattr(addresses, "system_resolver", lambda host, port: answer)
    monkeypatch.setattr(sending.httpx, "Client", None)  # no request is even prepared
    row, _secret = hooked(vendor, "https://hooks.example/in")
    sent = services.test(row)
    assert delivery.deliver_due() == 0
    sent.refresh_from_db()
    assert (sent.last_fault, sent.last_status) == ("address", None)
    page = signed_in(vendor.user).get(address("submissions:webhook", row.pk)).content.decode()
    assert "the name leads to no public address" in page
    assert "<br>address" not in page


def test_a_name_that_changes_its_answer_is_asked_for_once_and_the_request_goes_where_it_led(
    vendor: world.Vendor, settings: Any, monkeypatch: Any
) -> None:
    """DNS rebinding: public at the first look, inside at the second. There is no second."""
    settings.OUTGOING_LOOPBACK = False
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    monkeypatch.setattr(addresses, "system_resolver", lambda host, port: next(answers))
    asked: list[Any] = []

    def transport(request: Any) -> Any:
        asked.append(request)
        return sending.httpx.Response(200)

    client = sending.httpx.Client
    mocked = sending.httpx.MockTransport(transport)
    monkeypatch.setattr(sending.httpx, "Client", lambda **options: client(transport=mocked, **options))
    row, _secret = hooked(vendor, "https://hooks.example:8443/in?x=1")
    services.test(row)
    assert delivery.deliver_due() == 1
    (request,) = asked
    assert str(request.url) == "https://93.184.216.34:8443/in?x=1"
    assert request.headers["Host"] == "hooks.example:8443"
    assert request.extensions["sni_hostname"] == "hooks.example"
    assert next(answers) == ["127.0.0.1"]


@pytest.mark.parametrize(
    "url",
    [
        *("http://hooks.example/", "https://u:p@hooks.example/", "https://hooks.example:22/", "ftp://x/"),
        *("https://hooks.example/#x", "https:///x", "not an address", "https://hooks.example:0/"),
    ],
)
def test_addresses_that_cannot_be_are_refused_with_a_code(
    vendor: world.Vendor, url: str, settings: Any
) -> None:
    settings.OUTGOING_LOOPBACK = False
    page = signed_in(vendor.user).post(address("submissions:new_webhook"), {"url": url, "kinds": KINDS})
    assert page.status_code == 422
    assert "webhook_address" in page.content.decode()
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.serial
def test_who_answers_a_byte_at_a_time_holds_nobody_up(
    vendor: world.Vendor, there: Receiver, monkeypatch: Any
) -> None:
    there.drip = True
    monkeypatch.setattr(sending, "WHOLE_SECONDS", 1.0)
    row, _secret = hooked(vendor, there.url)
    sent = services.test(row)
    began = clock.now()
    assert delivery.deliver_due() == 0
    assert clock.now() - began < timedelta(seconds=4)
    sent.refresh_from_db()
    assert sent.last_fault == "timeout"


def test_a_dead_address_delays_its_own_messages_only(vendor: world.Vendor, there: Receiver) -> None:
    dead, _secret = hooked(vendor, "http://localhost:1/")
    alive, _secret = hooked(vendor, there.url)
    for _ in range(3):
        services.test(dead)
        services.test(alive)
    assert delivery.deliver_due() == 3
    assert (
        list(WebhookDelivery.objects.filter(endpoint=dead).values_list("attempts", flat=True)).count(0) == 2
    )


@pytest.mark.serial
@pytest.mark.django_db(transaction=True)
def test_eight_workers_send_each_message_once(there: Receiver) -> None:
    vendor = world.vendor()
    rows = [hooked(vendor, there.url)[0] for _ in range(4)]
    for row in rows * 2:
        services.test(row)
    gate = threading.Barrier(8)

    def work(_number: int) -> int:
        gate.wait()
        try:
            return delivery.deliver_due()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) + delivery.deliver_due() == 8
    assert len({json.loads(body)["id"] for _headers, body in there.taken}) == len(there.taken) == 8


# --- pages, API, rights ------------------------------------------------------------------------------


def test_the_secret_is_shown_once_and_sealed(vendor: world.Vendor, there: Receiver) -> None:
    browser = signed_in(vendor.user)
    form = {"url": there.url, "kinds": KINDS}
    page = browser.post(address("submissions:new_webhook"), form).content.decode()
    secret = re.search(r"whsec_[\w-]{43}", page).group()
    row = WebhookEndpoint.objects.get()
    assert secret.encode() not in bytes(row.sealed_secret) + bytes(row.wrapped_key)
    services.test(row)
    for name, arguments in (("webhooks", []), ("webhook", [row.pk])):
        shown = browser.get(address(f"submissions:{name}", *arguments)).content.decode()
        assert "localhost" in shown
        assert "whsec_" not in shown


def test_the_api_lists_makes_tests_replays_and_removes_by_session_only(
    vendor: world.Vendor, there: Receiver
) -> None:
    browser = signed_in(vendor.user)
    body = {"url": there.url, "kinds": KINDS}

    def post(path: str, sent: Any = None) -> Any:
        return browser.post(f"/api/v1/{path}", sent, content_type="application/json")

    assert vendor.api.post("webhooks", body).status == 403
    made = post("webhooks", body)
    assert (made.status_code, made.json()["secret"][:6]) == (201, "whsec_")
    path = f"webhooks/{made.json()['id']}"
    assert "secret" not in vendor.api.get(path).body
    assert vendor.api.get("webhooks").body["webhooks"][0]["active"] is True
    sent = post(f"{path}/test")
    assert (sent.status_code, sent.json()["state"]) == (202, "waiting")
    delivery.deliver_due()
    (shown,) = vendor.api.get(f"{path}/deliveries").body["deliveries"]
    assert (shown["state"], shown["last_status"]) == ("delivered", 200)
    assert post(f"deliveries/{shown['id']}/replay").status_code == 202
    assert delivery.deliver_due() == 1
    assert vendor.api.post(f"{path}/test").status == 403
    for _ in range(MOST - 1):
        assert post("webhooks", body).status_code == 201
    assert post("webhooks", body).json()["code"] == "webhook_limit"
    assert browser.delete(f"/api/v1/{path}").status_code == 204
    assert vendor.api.get(path).status == 404
    row = WebhookEndpoint.objects.get(pk=made.json()["id"])
    assert (row.url, bytes(row.sealed_secret), row.deliveries.count()) == ("", b"", 0)


def test_another_organisation_sees_none_of_it_and_a_viewer_changes_nothing(
    vendor: world.Vendor, there: Receiver
) -> None:
    row, _secret = hooked(vendor, there.url)
    sent = services.test(row)
    other = world.vendor()
    for path in (f"webhooks/{row.pk}", f"webhooks/{row.pk}/deliveries"):
        assert other.api.get(path).status == 404
    stranger = signed_in(other.user)
    assert stranger.get(address("submissions:webhook", row.pk)).status_code == 404
    assert stranger.post(f"/api/v1/deliveries/{sent.pk}/replay").status_code == 404
    member = Membership.objects.get(user=vendor.user)
    member.role = Membership.Role.VIEWER
    saved(member)
    viewer, page = signed_in(vendor.user), address("submissions:webhook", row.pk)
    assert viewer.get(page).status_code == 200
    for action in ("test", "remove", "switch_on"):
        assert viewer.post(page, {"action": action}).status_code == 403
    row.refresh_from_db()
    assert row.removed_at is None


def test_tokens_that_expire_are_told_fourteen_and_three_days_before_once_each(
    vendor: world.Vendor, there: Receiver
) -> None:
    hooked(vendor, there.url, [Kind.TOKEN_EXPIRING.value])
    assert vendor.token.expiry is not None
    for before in (20, 13, 12, 2, 1):
        with clock.frozen(vendor.token.expiry - timedelta(days=before)):
            delivery.warn_of_tokens()
            delivery.deliver_due()
    assert [json.loads(body)["data"]["token"] for _headers, body in there.taken] == [
        str(vendor.token.public_id)
    ] * 2


@pytest.mark.django_db(transaction=True)
def test_who_moves_submissions_reads_no_secret_and_changes_no_webhook(
    connect_as: Callable[[str], psycopg.Connection[Any]],
) -> None:
    for role in ("sealed", "console"):
        who = connect_as(role)
        who.execute("SELECT id FROM submissions_webhookendpoint WHERE kinds @> '\"x\"'")
        for statement in (
            "SELECT sealed_secret FROM submissions_webhookendpoint",
            "SELECT url FROM submissions_webhookendpoint",
            "UPDATE submissions_webhookendpoint SET url = 'x'",
            "SELECT body FROM submissions_webhookdelivery",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                who.execute(statement)


def test_messages_are_forgotten_after_a_month(vendor: world.Vendor, there: Receiver) -> None:
    row, _secret = hooked(vendor, there.url)
    services.test(row)
    delivery.deliver_due()
    with clock.shifted(timedelta(days=29)):
        delivery.forget_old()
        assert WebhookDelivery.objects.count() == 1
    with clock.shifted(timedelta(days=31)):
        delivery.forget_old()
    assert not WebhookDelivery.objects.exists()
    assert not Submission.objects.exists()
