"""`lgbench submit` against the real site over HTTP: what it sends, what it never sends, and what a repetition does."""

from __future__ import annotations

import json

import pytest

from submissions import cards
from submissions.models import Harness, HarnessVersion, Submission, Upload
from submissions.problems import Code
from submissions.reruns import services as reruns
from tests.pages import site
from tests.pages.test_cards import posted
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


def test_submit_and_again(lg, online, kit):
    said = lg("submit", "--json")
    assert said.code == 0, said.everything
    row = Submission.objects.get()
    assert (said.json["id"], said.json["state"], said.json["version"]) == (str(row.id), "created", "0.1.0")
    assert row.package_digest == lg("check", "--json").json["digest"]
    again = lg("submit", "--json")
    assert (again.code, again.json["id"]) == (0, str(row.id)), again.everything
    assert "submitted already" in again.err
    assert (Submission.objects.count(), Upload.objects.count(), HarnessVersion.objects.count()) == (1, 1, 1)
    assert lg("status").out.startswith(f"Submission {row.id}")
    assert str(row.id) in lg("status", "--all").out
    assert online.api.secret not in said.everything + again.everything
    assert not [p for p in kit.rglob("*") if p.is_file() and online.api.secret in p.read_text("latin-1")]


def test_the_harness_is_named_by_its_id(lg, online, kit):
    """`submit` prints the line, which then holds; an id that is not the registered harness's is refused."""
    said = lg("submit")
    harness = Harness.objects.get()
    line = f'harness_id = "{harness.id}"'
    assert line in said.err
    assert f"  harness {harness.id}" in lg("status").out.splitlines()
    settings = (kit / "lgbench.toml").read_text()
    (kit / "lgbench.toml").write_text(f"{line}\n{settings}")
    assert (lg("submit").code, line in lg("submit").err) == (0, False)
    other = online.harness("other")
    for wrong in (other.id, "nonsense"):
        (kit / "lgbench.toml").write_text(f'harness_id = "{wrong}"\n{settings}')
        for more in ((), ("--dry-run",)):
            refused = lg("submit", *more)
            assert (refused.code, "other_harness" in refused.err, str(wrong) in refused.err) == (
                2,
                True,
                True,
            )
    assert (Submission.objects.count(), Harness.objects.count()) == (1, 2)


@pytest.mark.case("E45")
def test_the_card_is_the_same_whichever_way_it_comes(lg, online, kit):
    """The CLI's HarnessCard and the web form's are one: same digest, and the digest that the client computed."""
    assert lg("submit").code == 0
    card = json.loads((kit / "card.json").read_text())
    path = f"/en/v/harnesses/{Harness.objects.get().id}/versions/new/"
    browser = site.signed_in(online.user)
    assert browser.post(path, {"version": "0.1.1", **posted(card)}).status_code == 302
    document = {"version": "0.1.2", "text": json.dumps(card, indent=7)}
    assert browser.post(f"{path}?by=document", document).status_code == 302
    stored = HarnessVersion.objects.order_by("created_at")
    assert {row.card_digest for row in stored} == {cards.digest(cards.check(card))}
    assert stored.count() == 3


@pytest.mark.case("U5")
def test_with_quota_zero_nothing_is_sent(lg, online, task_set, proxy, kit):
    assert lg("submit").code == 0
    row = Submission.objects.get()
    site.moved(row, *site.TO_COMPLETE)
    harness = Harness.objects.get()
    for _ in range(2):
        site.moved(online.submit(task_set, harness), *site.TO_COMPLETE)
    manifest = kit / "harness/harness.toml"
    manifest.write_text(manifest.read_text().replace("0.1.0", "0.2.0"))
    proxy.seen.clear()
    for more in ((), ("--dry-run",)):
        said = lg("submit", *more, "--json")
        assert said.code == 3, said.everything
        error = said.json["error"]
        assert error["code"] == "quota_line"
        assert error["cause"].startswith("Nothing was sent.")
        assert (error["problem"]["used"], error["problem"]["limit"]) == (3, 3)
        assert error["help"].endswith("/en/problems/quota_line/")
        assert "next task-set version" in error["hint"]
    assert proxy.of("POST", "uploads") == proxy.of("PUT", "") == []
    assert not [url for url in proxy.of("POST", "submissions") if not url.endswith("/check")]
    assert Upload.objects.count() == 3


@pytest.mark.case("U5")
def test_a_cooldown_is_told_with_its_date(lg, live_server, kit, monkeypatch, transactional_db):
    label = site.task_set("2026.8", cooldown_seconds=3600)
    vendor = world.vendor()
    monkeypatch.setenv("LGBENCH_TOKEN", vendor.api.secret)
    harness = vendor.harness("my-harness")
    site.moved(vendor.submit(label, harness), *site.TO_COMPLETE)
    said = lg("submit", "--json", "--site", live_server.url)
    until = Submission.objects.get().cooldown_until
    assert (said.code, said.json["error"]["code"]) == (3, "cooldown")
    assert said.json["error"]["problem"]["next_allowed_at"] == until.isoformat()
    assert until.isoformat() in said.err


def test_a_dry_run_changes_nothing(lg, online, proxy):
    said = lg("submit", "--dry-run", "--json")
    assert (said.code, said.json["allowed"], said.json["registered"]["harness"]) == (0, True, False)
    assert {method for method, _ in proxy.seen} == {"GET"}
    assert Harness.objects.count() == 0
    online.harness("my-harness")
    said = lg("submit", "--dry-run")
    assert "left now: 3; after it: 2" in said.out
    assert "one use" in said.out
    assert (HarnessVersion.objects.count(), Upload.objects.count(), Submission.objects.count()) == (0, 0, 0)


def test_answers_that_are_lost(lg, online, proxy):
    """Each POST reaches the site and its answer does not come back: it is asked again and nothing happens twice."""
    lost: set[str] = set()

    def lose(method: str, url: str) -> str:
        path = url.partition("?")[0]
        if method == "POST" and path not in lost:
            lost.add(path)
            return "lose"
        return ""

    proxy.rule = lose
    said = lg("submit", "--json")
    assert said.code == 0, said.everything
    assert len(lost) == 6
    counts = [model.objects.count() for model in (Harness, HarnessVersion, Upload, Submission)]
    assert counts == [1, 1, 1, 1]


@pytest.mark.case("U24")
def test_a_stored_upload_repeated_is_a_success(lg, online, proxy):
    proxy.rule = lambda method, url: "503" if method == "POST" and url.endswith("/submissions") else ""
    said = lg("submit")
    assert said.code == 5
    assert "http_503" in said.err
    assert Upload.objects.get().state == "complete"
    proxy.rule = lambda method, url: ""
    proxy.seen.clear()
    said = lg("submit")
    assert said.code == 0, said.everything
    assert "The bundle is stored already." in said.err
    assert proxy.of("PUT", "") == []
    assert Upload.objects.get().state == "consumed"


def test_what_failed_before_is_a_new_submission(lg, online):
    assert lg("submit").code == 0
    first = Submission.objects.get()
    site.moved(first, ("checking", Code.CHECK_STARTED), ("voided", Code.DEADLINE_CHECKING))
    assert lg("wait").code == 5
    said = lg("submit", "--json")
    assert said.code == 0, said.everything
    assert said.json["id"] != str(first.id)
    assert Submission.objects.count() == 2


def test_another_card_under_a_registered_version(lg, online, kit):
    assert lg("submit").code == 0
    text = (kit / "card.json").read_text()
    (kit / "card.json").write_text(text.replace("No tools;", "Tools;"))
    said = lg("submit")
    assert (said.code, "card_differs" in said.err, "Set a new `version`" in said.err) == (3, True, True)


def test_a_re_run_that_was_offered_is_taken_by_its_id(lg, online):
    """On a version whose quota is spent: refused without the id, admitted with it, and found again."""
    assert lg("submit").code == 0
    former = site.moved(Submission.objects.get(), *site.TO_COMPLETE)
    following = site.task_set("2027.1", line=0)
    offer = reruns.make(former, following, by=world.BY)
    assert offer is not None
    assert lg("submit", "--json").json["error"]["code"] == "quota_line"
    dry = lg("submit", "--dry-run", "--rerun-offer", str(offer.id))
    assert (dry.code, "cost: none" in dry.out, "one use" in dry.out) == (0, True, False), dry.everything
    said = lg("submit", "--json", "--rerun-offer", str(offer.id))
    assert said.code == 0, said.everything
    assert said.json["charge"]["rerun_offer"] == str(offer.id)
    again = lg("submit", "--json", "--rerun-offer", str(offer.id))
    assert (again.code, again.json["id"]) == (0, said.json["id"])
    assert lg("submit", "--rerun-offer", "x").code == 2
