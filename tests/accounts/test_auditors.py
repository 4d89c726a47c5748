"""Who is an auditor, from when to when, and what the log says about it."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts import auditors
from accounts import services as accounts
from accounts.auditor_refusals import AuditorRefused
from accounts.duties.table import Duty
from accounts.models import AuditorTerm, User
from config import clock
from tests.accounts.duties import opened
from tests.audit.test_log import Connect
from tests.submissions import world

DECLARATION = "d" * 64


def appointed(person: User | None = None, **changes: Any) -> AuditorTerm:
    """A person of a new audit organisation, an auditor from a day ago until a day from now."""
    person = person or world.person("auditor")
    organisation = accounts.create_organisation("Auditors", owner=person, by=world.BY)
    facts: dict[str, Any] = {
        "begins_at": clock.now() - timedelta(days=1),
        "ends_at": clock.now() + timedelta(days=1),
        "scope": "the year's releases",
        "declaration": DECLARATION,
    }
    marked = auditors.mark_audit_organisation(organisation, by=world.BY)
    return auditors.appoint(person, marked, **(facts | changes), by=world.BY)


@pytest.mark.django_db
def test_a_term_counts_from_its_first_to_its_last_instant() -> None:
    begins = clock.now().replace(microsecond=0) + timedelta(days=2)
    term = appointed(begins_at=begins, ends_at=begins + timedelta(days=3))
    for seconds, counts in [(-1, False), (0, True), (3 * 86400 - 1, True), (3 * 86400, False)]:
        with clock.frozen(begins + timedelta(seconds=seconds)):
            assert (auditors.term_of(term.person) == term) is counts, seconds


@pytest.mark.django_db
def test_who_joins_a_vendor_is_no_auditor_any_more() -> None:
    term = appointed()
    accounts.add_member(world.vendor().organisation, term.person, "viewer", by=world.BY)
    assert auditors.term_of(term.person) is None


@pytest.mark.django_db
def test_who_registered_a_harness_becomes_no_audit_organisation() -> None:
    vendor = world.vendor()
    vendor.harness()
    with pytest.raises(AuditorRefused, match="auditor_entrant"):
        auditors.mark_audit_organisation(vendor.organisation, by=world.BY)


@pytest.mark.django_db
def test_a_suspended_audit_organisation_has_no_auditors() -> None:
    term = appointed()
    organisation = term.organisation.organisation
    type(organisation).objects.filter(pk=organisation.pk).update(state=organisation.State.SUSPENDED)
    assert auditors.term_of(term.person) is None


@pytest.mark.django_db
def test_an_ended_term_counts_no_more_and_staff_are_no_auditors() -> None:
    term = appointed()
    assert auditors.term_of(term.person) == term
    auditors.end_term(term, by=world.BY)
    assert auditors.term_of(term.person) is None
    promoted = appointed()
    User.objects.filter(pk=promoted.person.pk).update(is_staff=True)
    from tests.factories import recorded

    with recorded(promoted.person):
        pass
    assert auditors.term_of(User.objects.get(pk=promoted.person.pk)) is None


@pytest.mark.django_db
def test_whoever_has_a_part_in_it_is_not_appointed() -> None:
    vendor, staff = world.vendor().user, accounts.create_user("s@x.invalid", None, by=world.BY, staff=True)
    organisation = auditors.mark_audit_organisation(
        accounts.create_organisation("Audit", owner=world.person(), by=world.BY), by=world.BY
    )
    facts: dict[str, Any] = {"begins_at": clock.now(), "ends_at": clock.now() + timedelta(days=1)}
    for person in (vendor, staff):
        with pytest.raises(AuditorRefused):
            auditors.appoint(person, organisation, **facts, scope="x", declaration=DECLARATION, by=world.BY)
    for changes in ({"scope": " "}, {"declaration": "paper"}, {"ends_at": clock.now() - timedelta(days=2)}):
        with pytest.raises(AuditorRefused, match=r"auditor_term|auditor_declaration"):
            appointed(**changes)
    assert not AuditorTerm.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_command_appoints_and_the_log_says_so_without_the_words(connect_as: Connect) -> None:
    person = world.person("auditor")
    organisation = accounts.create_organisation("Auditors", owner=person, by=world.BY)
    arguments = [str(person.pseudonym), str(organisation.pk), "--from", "2026-01-01", "--until", "2099-01-01"]
    arguments += ["--scope", "zqscope of the contract"]
    with pytest.raises(CommandError, match="SHA-256"):
        call_command("auditor_appoint", *arguments, "--declaration", "paper")
    call_command("auditor_appoint", *arguments, "--declaration", DECLARATION, stdout=StringIO())
    assert auditors.term_of(person) is not None
    rows = connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind = 'auditor.appointed'")
    (body,) = [bytes(row[0]) for row in rows]
    data = json.loads(body)["data"]
    assert (data["account"], data["organisation"]) == (str(person.pseudonym), str(organisation.pk))
    assert (data["begins"], data["declaration"]) == ("2026-01-01T00:00:00.000000Z", DECLARATION)
    assert b"zqscope" not in body


@pytest.mark.django_db(transaction=True)
def test_once_duties_have_begun_two_administrators_appoint(connect_as: Connect) -> None:
    person = world.person("auditor")
    organisation = accounts.create_organisation("Auditors", owner=person, by=world.BY)
    arguments = [str(person.pseudonym), str(organisation.pk), "--from", "2026-01-01", "--until", "2099-01-01"]
    arguments += ["--scope", "contract", "--declaration", DECLARATION]

    def appoint(*people: User) -> None:
        named = [word for one in people for word in ("--by", one.email)]
        call_command("auditor_appoint", *arguments, *named, stdout=StringIO())

    early = world.person()
    with pytest.raises(CommandError, match="duties_not_begun"):
        appoint(early, early)
    office = opened()
    other = office.holder(Duty.HELD_OUT_GOVERNOR)
    for people, why in (
        ((), "decision_not_entitled"),
        ((office.first,), "decision_not_entitled"),
        ((office.first, office.first), "duty_one_person"),
        ((office.first, other), "decision_not_entitled"),
    ):
        with pytest.raises(CommandError, match=why):
            appoint(*people)
    assert not AuditorTerm.objects.exists()
    appoint(office.first, office.second)
    assert auditors.term_of(person) is not None
    rows = connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind = 'auditor.appointed'")
    (data,) = [json.loads(bytes(row[0]))["data"] for row in rows]
    assert data["people"] == [str(office.first.pseudonym), str(office.second.pseudonym)]
