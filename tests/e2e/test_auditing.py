"""The auditors' pages and the verifier in a real browser: the answers are right, and the content policy holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from axe_playwright_python.sync_playwright import Axe

from accounts import services as accounts
from accounts.models import AuditorTerm
from audit import exports, integrity
from audit.exports import Selection
from audit.queries import verifier_keys
from tests.accounts.test_auditors import appointed
from tests.e2e.conftest import PASSWORD, sign_in_as
from tests.e2e.test_accessibility import RULES, WIDTHS
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Sequence = Callable[[], int]


@pytest.fixture
def term(servers: Any) -> AuditorTerm:
    """An auditor who can sign in."""
    person = accounts.create_user("auditor@lingee.invalid", PASSWORD, by=site.BY)
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    return appointed(world.enrolled(person))


@pytest.fixture
def signed(page: Any, live_server: Any, term: AuditorTerm) -> Any:
    """A browser in which the auditor has signed in; sign-in leads to the explorer."""
    sign_in_as(page, live_server.url, term.person)
    page.wait_for_url("**/en/audit/")
    return page


@pytest.fixture
def busy(term: AuditorTerm, sequence: Sequence) -> None:
    """Something on every page."""
    vendor = world.vendor()
    found = site.submission(vendor, site.task_set())
    site.moved(found, *site.TO_COMPLETE)
    sequence()
    exports.request(Selection(kind="submission."), by=term.person.actor("web", str(term.organisation_id)))
    exports.make_due()
    integrity.check_next()
    sequence()


def pages(base: str, language: str) -> list[str]:
    names = ("audit/", "audit/checkpoints/", "audit/statistics/", "audit/integrity/", "audit/exports/")
    return [f"{base}/{language}/{name}" for name in (*names, "audit/positions/3/", "log/", "log/verify/")]


@pytest.mark.slow
def test_every_page_fits_and_is_accessible(
    signed: Any, live_server: Any, busy: None, complaints: list[str]
) -> None:
    signed.emulate_media(reduced_motion="reduce")  # no colour is measured while it changes
    for language in ("en", "zh-hans"):
        for address in pages(live_server.url, language):
            for width in WIDTHS:
                signed.set_viewport_size({"width": width, "height": 900})
                signed.goto(address)
                wide = signed.evaluate(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                )
                assert wide <= 0, (address, width)
            found = Axe().run(signed, options=RULES)
            assert not found.response["violations"], (address, found.generate_report())
    assert not complaints


def answer(page: Any) -> tuple[str, str]:
    """Tone and words of the verifier's answer."""
    result = page.locator("[data-result]")
    result.wait_for(state="visible")
    return result.get_attribute("class"), result.inner_text()


def test_an_event_verifies_where_it_is_shown(
    signed: Any, live_server: Any, busy: None, complaints: list[str]
) -> None:
    signed.goto(f"{live_server.url}/en/audit/positions/3/")
    signed.get_by_role("button", name="Verify here").click()
    tone, said = answer(signed)
    assert "number 3 in the tree of" in said
    # Chromium has had Ed25519 since version 137.
    new = int(re.findall(r"\d+", signed.context.browser.version)[0]) >= 137
    assert ("notice-good" in tone, "signed by the log" in said) == (new, new), said
    assert not complaints


@pytest.fixture
def proof(signed: Any, live_server: Any, busy: None) -> str:
    signed.goto(f"{live_server.url}/en/audit/positions/3/")
    return str(signed.locator("[data-source]").input_value())


def flipped(text: str, line: int) -> str:
    """One character of a line of the proof changed into another of base64."""
    lines = text.split("\n")
    at = len(lines[line]) // 2
    other = "A" if lines[line][at] != "A" else "B"
    lines[line] = f"{lines[line][:at]}{other}{lines[line][at + 1 :]}"
    return "\n".join(lines)


def test_the_file_for_a_disk_says_the_same_without_a_server(
    page: Any, live_server: Any, proof: str, tmp_path: Path, complaints: list[str]
) -> None:
    saved = tmp_path / "verify.html"
    saved.write_text(page.request.get(f"{live_server.url}/en/log/verify.html").text(), encoding="utf-8")
    page.context.set_offline(True)
    page.goto(saved.as_uri())
    (key,) = verifier_keys()
    lines = proof.split("\n")
    blank = lines.index("")
    cases = [
        (proof, key, "number 3 in the tree"),
        (flipped(proof, 1), key, "Wrong: the path"),
        (flipped(proof, 3), key, "Wrong: the path"),
        (flipped(proof, blank + 3), key, "Wrong: the path"),
        (proof.replace("index 3\n", "index 2\n"), key, "Wrong: the path"),
        (proof.replace("index 3\n", "index 900\n"), key, "outside the tree"),
        (proof, "", "No signature is by a key"),
        (proof, key.replace("+", "+0", 1), "A key is malformed"),
        ("hello", key, "no receipt and no proof"),
        ('{"schema": "lingee-receipt/1"}', key, "no receipt and no proof"),
    ]
    for text, trusted, expected in cases:
        page.fill("[data-source]", text)
        page.fill("[data-keys]", trusted)
        page.get_by_role("button", name="Verify here").click()
        assert expected in answer(page)[1], (expected, answer(page)[1])
    assert not complaints


def test_a_receipt_that_holds_another_entry_is_refused(
    page: Any, live_server: Any, proof: str, complaints: list[str]
) -> None:
    import json

    page.goto(f"{live_server.url}/en/log/verify/")
    receipt = {"schema": "lingee-receipt/1", "submission": "x", "log": verifier_keys()[0], "admission": proof}
    page.fill("[data-source]", json.dumps(receipt))
    page.get_by_role("button", name="Verify here").click()
    tone, said = answer(page)
    assert "not what the receipt says" in said
    assert "notice-bad" in tone
    assert not complaints
