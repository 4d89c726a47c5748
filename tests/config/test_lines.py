"""Names on one line: what is folded away, what stays, and every place that keeps a name for mails."""

from __future__ import annotations

import unicodedata

import pytest
from django.core import mail
from hypothesis import given
from hypothesis import strategies as st

from accounts import services as accounts
from accounts.notices import delivery
from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from config.lines import folded, is_one_line
from submissions.services import register_harness
from tests.pages.site import address, signed_in
from tests.submissions import world

BAD = "Ada\r\nBcc: all@owner.invalid\u2028\u202egnp\x07"
GOOD = "Ada Bcc: all@owner.invalid gnp"


@given(st.text())
def test_what_is_folded_is_one_line_and_stays(text: str) -> None:
    found = folded(text)
    assert is_one_line(found)
    assert found == folded(found) == found.strip()
    kept = [mark for mark in text if not mark.isspace() and unicodedata.category(mark)[0] in "LNPS"]
    assert [mark for mark in found if unicodedata.category(mark)[0] in "LNPS"] == kept


@pytest.mark.parametrize(
    "text", ["江海智能 有限公司", "Ünï & Søn, S.A.", "שלום", "👩\u200d🔬 lab", "a\u3000b"]
)
def test_names_of_all_scripts_are_fine(text: str) -> None:
    assert is_one_line(text)
    assert folded(text) == text.replace("\u3000", " ")


@pytest.mark.django_db
def test_every_kept_name_is_folded() -> None:
    vendor = world.vendor()
    organisation = accounts.create_organisation(BAD, owner=world.person(), by=world.BY)
    harness = register_harness(vendor.organisation, name="one", title=BAD, relation="owner", by=vendor.actor)
    token, _ = accounts.issue_token(vendor.user, vendor.organisation, name=BAD, scopes=["read"], by=world.BY)
    person = accounts.create_user("ada@owner.invalid", None, name=BAD, by=world.BY)
    assert {organisation.name, harness.title, token.name, person.display_name} == {GOOD}
    accounts.set_name(person, f"{BAD}\n!", by=world.BY)
    assert person.display_name == f"{GOOD} !"


@pytest.mark.django_db
def test_the_form_of_an_organisation_folds_too() -> None:
    person = world.person()
    signed_in(person).post(
        address("accounts:organisation"), {"name": BAD, "rules_version": "2026-12", "accept": "on"}
    )
    assert [row.organisation.name for row in person.memberships.select_related("organisation")] == [GOOD]


@pytest.mark.django_db
def test_what_was_kept_before_is_folded_where_a_mail_is_written() -> None:
    person = world.person()
    person.language = "en"
    notify([person], Kind.TOKEN_EXPIRED, subject="x", facts={"name": BAD})
    assert delivery.deliver_due() == 1
    (sent,) = mail.outbox
    assert GOOD in sent.subject
    assert GOOD in sent.body
    assert "\nBcc" not in sent.message().as_string()
