"""The participation rules: stated when an organisation is founded, accepted by version, and again after a new one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.test import Client

from accounts.models import RuleAcceptance
from accounts.registration import rules
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
RULES = "/en/participation-rules/"
FOUND = "/en/account/organisation/"
Connect = Callable[[str], psycopg.Connection[Any]]


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """From now on another version is in force."""
    for language in rules.LANGUAGES:
        (tmp_path / f"2027-06.{language}.txt").write_text("Rule one of the new version.\n\nRule two.")
    monkeypatch.setattr(rules, "TEXTS", tmp_path)
    monkeypatch.setitem(rules.VERSIONS, "2027-06", rules.digest_of("2027-06"))
    return "2027-06"


def test_no_text_changes_under_its_version() -> None:
    assert {version: rules.digest_of(version) for version in rules.VERSIONS} == rules.VERSIONS
    for language in rules.LANGUAGES:
        assert len(rules.current().paragraphs(language)) == len(rules.current().paragraphs("en")) > 5


@pytest.mark.case("E20")
@pytest.mark.acceptance("access:1")
def test_founding_an_organisation_states_the_rules_and_stores_what_was_accepted(connect_as: Connect) -> None:
    person = world.person()
    browser = signed_in(person)
    shown = browser.get(FOUND).content.decode()
    assert "/en/participation-rules/" in shown
    assert rules.current().version in shown
    refused = browser.post(FOUND, {"name": "Acme", "rules_version": rules.current().version})
    assert "Without accepting the rules nobody takes part" in refused.content.decode()
    assert not person.memberships.exists()
    old = browser.post(FOUND, {"name": "Acme", "rules_version": "2020-01", "accept": "on"})
    assert "registration_rules_changed" in old.content.decode()
    assert not person.memberships.exists()
    browser.post(FOUND, {"name": "Acme", "rules_version": rules.current().version, "accept": "on"})
    row = RuleAcceptance.objects.get(organisation=person.memberships.get().organisation)
    assert (row.version, row.digest) == (rules.current().version, rules.digest_of(rules.current().version))
    assert row.accepted_by_id == person.pseudonym
    rows = connect_as("auditor").execute(
        "SELECT body FROM audit_event WHERE kind = 'organisation.rules_accepted'"
    )
    (body,) = [json.loads(found) for (found,) in rows]
    assert body["data"] | {"at": ""} == {
        "rules": row.version,
        "digest": row.digest,
        "accepted_by": str(person.pseudonym),
        "at": "",
    }
    with pytest.raises(psycopg.errors.IntegrityError, match="stay on record"):
        connect_as("owner").execute("UPDATE accounts_ruleacceptance SET version = 'x'")


@pytest.mark.case("E20")
@pytest.mark.acceptance("access:1")
def test_a_new_version_has_to_be_accepted_before_the_next_submission(
    vendor: world.Vendor, next_version: str
) -> None:
    version, harness = site.task_set(), vendor.harness()
    order = world.body_of(vendor.order(version, harness))
    answer = vendor.api.post("submissions", order)
    assert (answer.status, answer.code) == (403, "rules_not_accepted")
    assert vendor.api.post("preflights", order).code == "rules_not_accepted"
    assert "/participation-rules/" in json.dumps(answer.body)
    browser = signed_in(vendor.user)
    shown = browser.get(RULES).content.decode()
    assert "Rule one of the new version." in shown
    browser.post(RULES, {"rules_version": "2026-12", "accept": "on"})
    assert vendor.api.post("submissions", order).code == "rules_not_accepted"
    browser.post(RULES, {"rules_version": next_version, "accept": "on"})
    assert vendor.api.post("submissions", order).status == 202
    assert vendor.organisation.rule_acceptances.count() == 2


def test_only_an_owner_accepts(vendor: world.Vendor, client: Client, next_version: str) -> None:
    other = world.colleague(vendor)
    for browser in (client, signed_in(other.user), signed_in(world.person())):
        assert "Rule two." in browser.get(RULES).content.decode()
        assert 'name="accept"' not in browser.get(RULES).content.decode()
        browser.post(RULES, {"rules_version": next_version, "accept": "on"})
    assert not vendor.organisation.rule_acceptances.filter(version=next_version).exists()
    signed_in(vendor.user).post(RULES, {"rules_version": next_version, "accept": "on"})
    assert vendor.organisation.rule_acceptances.filter(version=next_version).exists()
