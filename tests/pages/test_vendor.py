"""The vendor area: who may open what, and what stands there."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.test import Client

from accounts import services as accounts
from audit.events import system
from submissions import services
from submissions.delivery import delivery_of
from submissions.models import Submission
from submissions.problems import Code
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db
Addresses = dict[str, str]


@pytest.fixture
def addresses(complete: Submission) -> Addresses:
    """Every page of the vendor area that is about this vendor's things."""
    version = complete.harness_version
    run = complete.preflight_run.public_results.get()  # type: ignore[union-attr]
    own: dict[str, Any] = {"submission": complete.id}
    return {
        "harness": address("submissions:harness", version.harness_id),
        "new version": address("submissions:new_version", version.harness_id),
        "version": address("submissions:version", version.id),
        "card": address("submissions:card_document", version.id),
        "confirm": address("submissions:confirm", complete.upload_id),
        "submission": address("submissions:submission", **own),
        "cancel": address("submissions:cancel", **own),
        "choice": address("submissions:choice", **own),
        "preflight": address("submissions:preflight", **own),
        "preflight run": address("submissions:preflight_run", **own, task=run.task_label, index=0),
        "result": address("leaderboard:result", **own),
    }


LISTS = (
    "v/",
    "v/harnesses/",
    "v/harnesses/new/",
    "v/submissions/",
    "v/submissions/new/",
    "v/tokens/",
    "v/tokens/new/",
)


def without_marks(text: str) -> str:
    """A page apart from what is new in each request, and from its own address."""
    text = re.sub(r"<dd>[0-9a-f-]{36}</dd>", "", text)
    return re.sub(r"/(?:en|zh-hans)/v/[^\"]*", "", text)


def test_strangers_are_led_to_sign_in(client: Client, addresses: Addresses) -> None:
    for path in (*addresses.values(), *(f"/en/{path}" for path in LISTS)):
        answer = client.get(path)
        assert answer.status_code == 302
        assert "/account/login/?next=" in answer.headers["Location"]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_vendor_opens_every_page(vendor: world.Vendor, addresses: Addresses, language: str) -> None:
    client = signed_in(vendor.user)
    for path in (*addresses.values(), *(f"/en/{path}" for path in LISTS)):
        answer = client.get(re.sub(r"^/[a-z-]+/", f"/{language}/", path))
        assert answer.status_code == 200, path
        assert "no-store" in answer.headers["Cache-Control"]
        assert "private" in answer.headers["Cache-Control"]


@pytest.mark.acceptance("main-job:8")
def test_a_foreign_id_is_the_same_as_a_missing_one(
    vendor: world.Vendor, other: world.Vendor, addresses: Addresses
) -> None:
    client = signed_in(other.user)
    for path in addresses.values():
        missing = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", str(uuid.uuid4()), path)
        answers = [client.get(path), client.get(missing)]
        assert [answer.status_code for answer in answers] == [404, 404], path
        bodies = {without_marks(answer.content.decode()) for answer in answers}
        assert len(bodies) == 1, path


def test_foreign_things_cannot_be_changed(
    vendor: world.Vendor, other: world.Vendor, complete: Submission
) -> None:
    client = signed_in(other.user)
    for name in ("cancel", "choice", "consent"):
        answer = client.post(address(f"submissions:{name}", complete.id), {"choice": "void"})
        assert answer.status_code == 404
    complete.refresh_from_db()
    assert complete.state == "complete"


def test_staff_are_no_members(complete: Submission, addresses: Addresses) -> None:
    staff = accounts.create_user("staff@lingee.invalid", None, by=system("test"), staff=True)
    answer = signed_in(staff).get(addresses["result"])
    assert answer.headers["Location"].endswith("/account/organisation/")


def test_views_that_hand_out_results_are_marked() -> None:
    from leaderboard.views import vendor as leaderboard_pages
    from submissions.views import preflights

    assert delivery_of(leaderboard_pages.result) == "result"
    assert delivery_of(leaderboard_pages.home) == "result"
    assert delivery_of(preflights.preflight_run) == "preflight"


def test_the_home_shows_every_counter_and_which_one_decides(vendor: world.Vendor, version: object) -> None:
    site.submission(vendor, version)  # type: ignore[arg-type]
    text = signed_in(vendor.user).get("/en/v/").content.decode()
    assert "2 of 3 submissions left for 2026.9" in text
    for words in (
        "On this harness, all versions",
        "In the organisation",
        "By you",
        "In flight on this harness",
    ):
        assert words in text
    assert "1 of 1 used" in text
    assert "this one decides" in text
    assert "How is this counted?" in text
    assert "No date: possible as soon as the submission in flight has ended." in text


def test_a_cooldown_shows_the_exact_instant(vendor: world.Vendor) -> None:
    version = site.task_set(profile="official")
    found = site.moved(site.submission(vendor, version), *site.TO_COMPLETE)
    text = signed_in(vendor.user).get("/en/v/").content.decode()
    assert found.cooldown_until is not None
    assert f"{found.cooldown_until:%Y-%m-%d %H:%M:%S} UTC" in text
    assert "Next submission possible from" in text


def test_the_home_shows_results_as_strips(vendor: world.Vendor, complete: Submission) -> None:
    text = signed_in(vendor.user).get("/en/v/").content.decode()
    assert "46 ± 9" in text
    assert "44 ± 6" in text


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        ((), "the reserved use is returned and the cooldown lifted"),
        (site.TO_RUNNING, "Held-out tasks have started. Cancelling keeps this submission counted."),
    ],
)
def test_cancelling_says_what_it_does_and_does_it(
    vendor: world.Vendor, version: object, moves: tuple[tuple[str, Code], ...], words: str
) -> None:
    found = site.moved(site.submission(vendor, version), *moves)  # type: ignore[arg-type]
    client, path = signed_in(vendor.user), address("submissions:cancel", found.id)
    assert words in client.get(path).content.decode()
    assert client.post(path, follow=True).status_code == 200
    found.refresh_from_db()
    assert found.state == "cancelled"
    assert found.slot.state == ("consumed" if moves else "refunded")


def test_what_cannot_be_cancelled_says_so(vendor: world.Vendor, complete: Submission) -> None:
    client, path = signed_in(vendor.user), address("submissions:cancel", complete.id)
    assert "cannot be cancelled" in client.get(path).content.decode()
    answer = client.post(path)
    assert answer.status_code == 409
    assert "move_not_possible" in answer.content.decode()


def test_the_timeline_shows_how_far_it_came(vendor: world.Vendor, version: object) -> None:
    found = site.moved(site.submission(vendor, version), *site.TO_RUNNING)  # type: ignore[arg-type]
    text = signed_in(vendor.user).get(address("submissions:submission", found.id)).content.decode()
    looks = re.findall(r'<li class="(done|now|open|failed)"', text)
    assert looks == ["done"] * 4 + ["now"] + ["open"] * 2
    assert "0 % of the whole" in text


@pytest.mark.parametrize(
    ("moves", "looks"),
    [
        (
            (*site.TO_RUNNING, ("awaiting_choice", Code.DEADLINE_RUNNING)),
            ["done"] * 5 + ["now"] + ["open"] * 2,
        ),
        ((*site.TO_RUNNING[:2], ("preflight_failed", Code.PREFLIGHT_CRASHED)), ["done"] * 2 + ["failed"] * 2),
        (site.TO_COMPLETE, ["done"] * 7),
        ((("cancelled", Code.CANCELLED_BY_VENDOR),), ["failed"] * 2),
    ],
)
def test_where_it_waits_or_ended_stands_after_the_last_step(
    vendor: world.Vendor, version: object, moves: tuple[tuple[str, Code], ...], looks: list[str]
) -> None:
    found = site.moved(site.submission(vendor, version), *moves)  # type: ignore[arg-type]
    text = signed_in(vendor.user).get(address("submissions:submission", found.id)).content.decode()
    assert re.findall(r'<li class="(done|now|open|failed)"', text) == looks


def test_a_failure_says_whose_what_to_do_and_what_it_cost(vendor: world.Vendor, version: object) -> None:
    found = site.moved(site.submission(vendor, version), *site.TO_RUNNING[:2])  # type: ignore[arg-type]
    found = site.moved(found, ("preflight_failed", Code.PREFLIGHT_CRASHED))
    text = signed_in(vendor.user).get(address("submissions:submission", found.id)).content.decode()
    for words in (
        "Whose doing",
        "The package has to change.",
        "What to do",
        "See the logs",
        "Effect on the quota",
    ):
        assert words in text
    assert "preflight_crashed" in text
    assert str(found.id) in text


@pytest.mark.parametrize(("choice", "state"), [("keep", "incomplete"), ("void", "voided")])
def test_the_blind_choice(vendor: world.Vendor, version: object, choice: str, state: str) -> None:
    found = site.moved(site.submission(vendor, version), *site.TO_RUNNING)  # type: ignore[arg-type]
    found = site.moved(found, ("awaiting_choice", Code.DEADLINE_RUNNING))
    client, path = signed_in(vendor.user), address("submissions:choice", found.id)
    assert "before any number is shown" in client.get(path).content.decode()
    assert client.post(path, {}).status_code == 422
    client.post(path, {"choice": choice})
    found.refresh_from_db()
    assert found.state == state


def test_consent_can_be_given_and_withdrawn(vendor: world.Vendor, complete: Submission) -> None:
    client, path = signed_in(vendor.user), address("submissions:consent", complete.id)
    for word, expected in (("given", True), ("withdrawn", False)):
        client.post(path, {"consent": word})
        complete.refresh_from_db()
        assert complete.publication_consent is expected
    assert client.get(path).status_code == 405


def test_preflight_shows_everything_as_text(
    vendor: world.Vendor, complete: Submission, addresses: Addresses
) -> None:
    client = signed_in(vendor.user)
    assert "numeric or state error" in client.get(addresses["preflight"]).content.decode()
    text = client.get(addresses["preflight run"]).content.decode()
    for words in ("reading &lt;b&gt;files&lt;/b&gt;", "a warning", "3 of 4", "0.7500 of 1"):
        assert words in text


def test_a_viewer_may_read_and_not_act(version: object) -> None:
    viewer = world.vendor(role="viewer")
    answer = signed_in(viewer.user).post(
        "/en/v/harnesses/new/", {"name": "x", "title": "", "relation": "owner"}
    )
    assert answer.status_code == 403
    assert "role_may_not_submit" in answer.content.decode()


def test_posts_need_the_sites_own_form(vendor: world.Vendor, complete: Submission) -> None:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    site.sign_in(client, vendor.user)
    for path in (
        "/en/v/harnesses/new/",
        "/en/v/submissions/new/",
        f"/en/v/submissions/{complete.id}/cancel/",
    ):
        answer = client.post(path, {})
        assert answer.status_code == 403
        assert "csrf_failed" in answer.content.decode()


@pytest.mark.parametrize("state", ["voided", "rejected", "cancelled", "held", "paused"])
def test_every_other_state_has_a_page(vendor: world.Vendor, version: object, state: str) -> None:
    paths = {
        "voided": (*site.TO_RUNNING, ("voided", Code.DEADLINE_CHOICE)),
        "rejected": (site.TO_RUNNING[0], ("rejected", Code.PACKAGE_NOT_GZIP)),
        "cancelled": (("cancelled", Code.CANCELLED_BY_VENDOR),),
        "held": (*site.TO_COMPLETE[:-1], ("held", Code.HELD_FOR_REVIEW)),
        "paused": (*site.TO_RUNNING, ("paused", Code.UPSTREAM_DOWN)),
    }
    found = site.submission(vendor, version)  # type: ignore[arg-type]
    if state == "paused":
        found = site.moved(found, *site.TO_RUNNING)
        services.pause(found.id, by=site.BY)
    else:
        found = site.moved(found, *paths[state])
    answer = signed_in(vendor.user).get(address("submissions:submission", found.id))
    assert answer.status_code == 200
    assert "Support id" in answer.content.decode()


def test_beside_a_receipt_stands_how_it_is_checked_without_this_site(complete: Submission) -> None:
    person = signed_in(complete.account)  # type: ignore[arg-type]
    for language in ("en", "zh-hans"):
        page = person.get(address("submissions:submission", complete.id, language=language)).content.decode()
        (how,) = re.findall(r'href="([^"#]+)#offline"', page)
        guide = Client().get(how).content.decode()
        assert 'id="offline"' in guide
        commands = re.findall(r'<pre class="log"><code>(.*?)</code>', guide)
        assert commands == [
            "curl -fsS http://testserver/log/keys &gt; log.key",
            "python3 -m pip install --no-index --find-links dist lgbench",
            "lgbench-audit verify receipt.json --key log.key",
        ]
