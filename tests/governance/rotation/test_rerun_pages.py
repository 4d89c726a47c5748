"""What a vendor sees of offered re-runs: a card of the open ones, and a confirm step that says what it costs."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client

from submissions.models import RerunOffer, Slot, Submission, Upload
from submissions.policies import reruns
from submissions.services import cancel
from tests.governance.reruns import offered, order_of
from tests.governance.test_silences import opened
from tests.pages import site
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.django_db

SAID = {"en": "costs no use of the quota", "zh-hans": "不占用次数"}


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def offer(vendor: world.Vendor) -> RerunOffer:
    return offered(vendor, opened())


@pytest.fixture
def browser(vendor: world.Vendor) -> Client:
    return site.signed_in(vendor.user)


@pytest.fixture
def upload(vendor: world.Vendor, offer: RerunOffer) -> Upload:
    return order_of(vendor, offer).upload


def confirm(upload: Upload, offer: RerunOffer, language: str = "en", **query: str) -> str:
    rest = "".join(f"&{name}={value}" for name, value in query.items())
    return f"/{language}/v/uploads/{upload.id}/confirm/?task_set={offer.task_set.label}{rest}"


def fields(page: str) -> dict[str, str]:
    """The hidden fields of the form that submits."""
    form = page.split('<form class="wide"')[1].split("</form>", maxsplit=1)[0]
    found = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    return {name: found.get(name, "") for name in ("task_set", "key", "rerun_offer")}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_open_offers_stand_on_the_page_of_submissions(
    vendor: world.Vendor, offer: RerunOffer, browser: Client, language: str
) -> None:
    address = f"/{language}/v/submissions/"
    page = browser.get(address).content.decode()
    assert SAID[language] in page
    assert f"?version={offer.harness_version_id}&amp;task_set={offer.task_set.label}" in page
    assert SAID[language] not in site.signed_in(world.vendor().user).get(address).content.decode()
    found = Submission.objects.get(pk=vendor.api.post("submissions", _body(vendor, offer)).body["id"])
    page = browser.get(address).content.decode()
    assert SAID[language] not in page
    assert {"en": "re-run, outside the quota", "zh-hans": "重新运行，不占配额"}[language] in page
    own = browser.get(f"{address}{found.id}/").content.decode()
    assert {"en": "No use is counted", "zh-hans": "不计次数"}[language] in own
    assert {"en": "opens again", "zh-hans": "再次可用"}[language] in own
    assert {"en": "opens again", "zh-hans": "再次可用"}[language] in browser.get(
        f"{address}{found.id}/cancel/"
    ).content.decode()


def _body(vendor: world.Vendor, offer: RerunOffer) -> dict[str, str]:
    return world.body_of(order_of(vendor, offer), rerun_offer=str(offer.id))


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_confirm_step_says_that_it_costs_nothing_and_takes_it(
    vendor: world.Vendor, offer: RerunOffer, browser: Client, upload: Upload, language: str
) -> None:
    """Also where the only use is spent and the cooldown runs."""
    used = bring_to(vendor.submit(offer.task_set, offer.harness_version.harness), "running")
    cancel(used.id, by=vendor.actor)
    page = browser.get(confirm(upload, offer, language)).content.decode()
    assert SAID[language] in page
    assert {"en": "Submit the re-run", "zh-hans": "提交重新运行"}[language] in page
    sent = fields(page)
    assert sent["rerun_offer"] == str(offer.id)
    answer = browser.post(confirm(upload, offer, language), sent)
    assert answer.status_code == 302, answer.content.decode()
    assert Slot.objects.get(submission__upload=upload).offer_id == offer.id


def test_the_quota_may_be_used_instead(offer: RerunOffer, browser: Client, upload: Upload) -> None:
    page = browser.get(confirm(upload, offer, rerun="no")).content.decode()
    assert "This uses the 1 submission you have left." in page
    assert SAID["en"] not in page
    sent = fields(page)
    assert sent["rerun_offer"] == ""
    assert browser.post(confirm(upload, offer), sent).status_code == 302
    assert Slot.objects.get(submission__upload=upload).offer_id is None
    offer.refresh_from_db()
    assert offer.state == "open"


def test_anothers_offer_is_not_there_and_nonsense_is_refused(
    offer: RerunOffer, browser: Client, upload: Upload
) -> None:
    stranger = world.vendor()
    theirs = stranger.order(offer.task_set, stranger.harness()).upload
    client = site.signed_in(stranger.user)
    sent = fields(client.get(confirm(theirs, offer)).content.decode())
    assert client.post(confirm(theirs, offer), sent | {"rerun_offer": str(offer.id)}).status_code == 404
    assert browser.post(confirm(upload, offer), sent | {"rerun_offer": "x"}).status_code == 422
    assert not Slot.objects.filter(task_set=offer.task_set).exists()


def test_the_form_of_a_spent_quota_stays_open_for_it(
    vendor: world.Vendor, offer: RerunOffer, browser: Client
) -> None:
    used = bring_to(vendor.submit(offer.task_set, offer.harness_version.harness), "running")
    cancel(used.id, by=vendor.actor)
    for version in {row.task_set for row in Submission.objects.exclude(task_set=offer.task_set)}:
        world.services.close_task_set(version, by=world.BY)
    page = browser.get(f"/en/v/submissions/new/?version={offer.harness_version_id}").content.decode()
    assert "disabled" not in page.split('<form class="narrow"')[1].split("</form>")[0]


@pytest.mark.parametrize(
    ("language", "row"), [("en", "An offer of a re-run stands for"), ("zh-hans", "重新运行机会的有效期")]
)
def test_the_published_rules_print_how_long_an_offer_stands(
    language: str, row: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Client().get(f"/{language}/rules/held-out/").content.decode()
    assert "90" in page.split(row)[1][:80]
    monkeypatch.setattr(reruns, "STANDS", timedelta(days=77))
    page = Client().get(f"/{language}/rules/held-out/").content.decode()
    assert "77" in page.split(row)[1][:80]
    assert Client().get(f"/{language}/rules/").content.decode().count("/rules/held-out/") >= 2
