"""Invited by mail, given a role, leaving: at once, on record, and never without an owner."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connections
from django.test import Client

from accounts import services as accounts
from accounts.duties.table import Duty
from accounts.members import services as members
from accounts.members.models import Invitation
from accounts.members.refusals import MemberRefused
from accounts.models import Membership, User
from audit import live
from config import clock
from submissions.models import Slot, Submission
from tests.accounts.duties import opened
from tests.factories import saved
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Connect = Callable[[str], psycopg.Connection[Any]]
NEW = "new@lingee.invalid"


def somebody(email: str = NEW, *, verified: bool = True) -> User:
    user = accounts.create_user(email, None, by=world.BY)
    EmailAddress.objects.create(user=user, email=email, verified=verified, primary=True)
    return user


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def invited(vendor: world.Vendor, email: str = NEW, role: str = "submitter") -> str:
    """The address in the mail that an invitation by the page sends."""
    answer = signed_in(vendor.user).post(address("accounts:members"), {"address": email, "role": role})
    assert answer.status_code == 302, answer.content.decode()
    found = re.search(r"http://testserver(\S+)", str(mail.outbox[-1].body))
    assert found
    return found.group(1)


def membership(user: User) -> Membership:
    return Membership.objects.get(user=user)


# --- invitations -------------------------------------------------------------------------------------


@pytest.mark.acceptance("access:1")
def test_invited_by_mail_and_accepted_once(vendor: world.Vendor) -> None:
    link, person = invited(vendor), somebody()
    assert mail.outbox[-1].to == [NEW]
    client = signed_in(person)
    page = client.get(link)
    assert page.status_code == 200
    assert not Membership.objects.filter(user=person).exists()  # looking changes nothing
    assert client.post(link).status_code == 302
    assert membership(person).role == "submitter"
    assert client.get(address("accounts:members")).status_code == 200
    again = client.post(link)
    assert (again.status_code, b"invitation_over" in again.content) == (404, True)
    assert live.check().ok


def test_the_secret_is_in_the_link_only(vendor: world.Vendor, caplog: pytest.LogCaptureFixture) -> None:
    link = invited(vendor)
    secret = link.partition("=")[2]
    answer = Client().get(link)
    assert answer.headers["Location"].startswith("/en/account/login/?next=")
    assert secret in answer.headers["Location"]
    row = Invitation.objects.get()
    assert secret not in str(Invitation.objects.values().get())
    assert secret not in caplog.text
    assert "account/invitation/" in caplog.text
    assert (row.expires_at - row.created_at) == timedelta(days=7)


@pytest.mark.parametrize("case", ["other", "unconfirmed"])
def test_only_who_has_confirmed_the_address_accepts(vendor: world.Vendor, case: str) -> None:
    link = invited(vendor)
    person = somebody("else@lingee.invalid") if case == "other" else somebody(verified=False)
    for answer in (signed_in(person).get(link), signed_in(person).post(link)):
        assert (answer.status_code, b"invitation_other_address" in answer.content) == (409, True)
        assert vendor.organisation.name.encode() not in answer.content.replace(b"Vendor area", b"")
    assert not Membership.objects.filter(user=person).exists()


@pytest.mark.parametrize("end", ["expired", "withdrawn", "replaced", "inviter left", "unknown"])
def test_what_is_over_is_one_answer(vendor: world.Vendor, end: str) -> None:
    person = somebody()
    link = invited(vendor)
    client, shift = signed_in(person), timedelta(0)
    if end == "expired":
        shift = timedelta(days=7, seconds=1)
    elif end == "withdrawn":
        row = Invitation.objects.get()
        done = signed_in(vendor.user).post(address("accounts:revoke_invitation", row.pk))
        assert done.status_code == 302
    elif end == "replaced":
        assert invited(vendor) != link
    elif end == "inviter left":
        accounts.add_member(vendor.organisation, world.person(), "owner", by=world.BY)
        members.end_membership(membership(vendor.user), by=vendor.actor)
    else:
        link = f"{link}x"
    with clock.shifted(shift):
        answer = client.post(link)
    assert (answer.status_code, b"/problems/invitation_over/" in answer.content) == (404, True)
    assert not Membership.objects.filter(user=person).exists()


def test_an_invitation_that_is_over_names_nobody(vendor: world.Vendor) -> None:
    link, person = invited(vendor), somebody()
    signed_in(person).post(link)
    invited(vendor, "late@lingee.invalid")
    invited(vendor, "gone@lingee.invalid")
    accounts.erase_person(somebody("gone@lingee.invalid"), by=world.BY)
    with clock.shifted(timedelta(days=8)):
        members.invite(
            vendor.organisation, "x@lingee.invalid", "viewer", inviter=vendor.user, by=vendor.actor
        )
    assert set(Invitation.objects.values_list("address", flat=True)) == {"", "x@lingee.invalid"}
    assert live.check().ok


def test_mails_go_in_the_language_of_whom_they_reach(vendor: world.Vendor) -> None:
    for language, word in (("en", "Invitation"), ("zh-hans", "邀请")):
        person = somebody(f"{language}@lingee.invalid")
        person.language = language
        saved(person)
        invited(vendor, person.email)
        assert word in mail.outbox[-1].subject
        assert vendor.organisation.name in mail.outbox[-1].subject


def test_an_organisation_sends_so_many_in_a_day_and_no_more(vendor: world.Vendor) -> None:
    for number in range(30):
        members.invite(
            vendor.organisation, f"{number}@lingee.invalid", "viewer", inviter=vendor.user, by=vendor.actor
        )
    client = signed_in(vendor.user)
    form = {"address": NEW, "role": "viewer"}
    answer = client.post(address("accounts:members"), form)
    assert (answer.status_code, b"invitation_too_many" in answer.content) == (409, True)
    with clock.shifted(timedelta(days=1, minutes=1)):
        assert client.post(address("accounts:members"), form).status_code == 302


@pytest.mark.serial
def test_two_who_accept_at_once_are_one_member(vendor: world.Vendor) -> None:
    _, secret = members.invite(vendor.organisation, NEW, "viewer", inviter=vendor.user, by=vendor.actor)
    person = somebody()
    by = accounts.actor_for(person, channel="web")
    said = at_once([lambda: members.accept(secret, person, by=by)] * 4)
    assert sorted(said) == ["done", *["invitation_over"] * 3]
    assert Membership.objects.filter(user=person).count() == 1


def at_once(works: list[Callable[[], object]]) -> list[str]:
    gate = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> str:
        try:
            gate.wait()
            work()
        except MemberRefused as refused:
            return refused.reason.value
        finally:
            connections.close_all()
        return "done"

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


# --- roles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["submitter", "viewer"])
def test_only_owners_manage(vendor: world.Vendor, role: str) -> None:
    person = somebody()
    accounts.add_member(vendor.organisation, person, role, by=world.BY)
    owner, client = membership(vendor.user), signed_in(person)
    row, _ = members.invite(
        vendor.organisation, "x@lingee.invalid", "viewer", inviter=vendor.user, by=vendor.actor
    )
    page = client.get(address("accounts:members")).content.decode()
    assert "x@lingee.invalid" not in page
    attempts = [
        ("accounts:members", (), {"address": "y@lingee.invalid", "role": "viewer"}),
        ("accounts:member", (membership(person).pk,), {"role": "owner"}),
        ("accounts:member", (owner.pk,), {"role": "viewer"}),
        ("accounts:end_member", (owner.pk,), {}),
        ("accounts:revoke_invitation", (row.pk,), {}),
    ]
    for name, arguments, form in attempts:
        answer = client.post(address(name, *arguments), form)
        assert (answer.status_code, b"member_not_owner" in answer.content) == (409, True), name
    assert {membership(person).role, membership(vendor.user).role} == {role, "owner"}


@pytest.mark.acceptance("access:1")
def test_another_role_counts_at_once_for_tokens_too(vendor: world.Vendor) -> None:
    colleague = world.colleague(vendor)
    harness = {"name": "one", "title": "One", "relation": "owner"}
    assert colleague.api.post("harnesses", harness).status == 201
    row = membership(colleague.user)
    answer = signed_in(vendor.user).post(address("accounts:member", row.pk), {"role": "viewer"})
    assert answer.status_code == 302
    refused = colleague.api.post("harnesses", harness | {"name": "two"})
    assert (refused.status, refused.code) == (403, "role_may_not_submit")


def test_anothers_members_are_nobodys(vendor: world.Vendor) -> None:
    other = world.vendor()
    row, _ = members.invite(other.organisation, NEW, "viewer", inviter=other.user, by=other.actor)
    client = signed_in(vendor.user)
    for name, key in [
        ("accounts:member", membership(other.user).pk),
        ("accounts:end_member", membership(other.user).pk),
        ("accounts:choose_organisation", membership(other.user).pk),
        ("accounts:revoke_invitation", row.pk),
    ]:
        assert client.post(address(name, key), {"role": "viewer"}).status_code == 404
    assert Invitation.objects.get(pk=row.pk).is_open
    assert membership(other.user).role == "owner"


def test_a_page_of_members_says_nothing_about_staff(vendor: world.Vendor) -> None:
    plain, staff = somebody(), accounts.create_user("s@lingee.invalid", None, by=world.BY, staff=True)
    for user in (plain, staff):
        accounts.add_member(vendor.organisation, user, "viewer", by=world.BY)
    page = signed_in(vendor.user).get(address("accounts:members")).content.decode()
    rows = {
        user.email: re.sub(
            r"[0-9a-f-]{36}|datetime=\S+", "ID", page.partition(user.email)[2].partition("</tr>")[0]
        ).replace(user.email, "X")
        for user in (plain, staff)
    }
    assert rows[plain.email].partition("<td>")[2] == rows[staff.email].partition("<td>")[2]


# --- leaving -----------------------------------------------------------------------------------------


def counted(vendor: world.Vendor) -> str:
    """What the quota says is used, without the times at which it is asked."""
    said = json.dumps(vendor.api.get("quota").body, sort_keys=True)
    return re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|\+00:00)", "TIME", said)


@pytest.mark.case("E54")
@pytest.mark.acceptance("access:1")
@pytest.mark.parametrize("how", ["leaves", "is removed"])
def test_who_is_gone_has_no_access_and_what_they_did_stays(
    vendor: world.Vendor, how: str, connect_as: Connect
) -> None:
    version, colleague = site.task_set(), world.colleague(vendor)
    done = colleague.submit(version, colleague.harness())
    used = counted(vendor)
    row, browser = membership(colleague.user), signed_in(colleague.user)
    assert browser.get(address("submissions:submission", done.id)).status_code == 200
    client = browser if how == "leaves" else signed_in(vendor.user)
    assert client.post(address("accounts:end_member", row.pk)).status_code == 302
    # at once, for the session and for the token
    assert browser.get(address("submissions:submission", done.id)).status_code == 302
    refused = colleague.api.get("harnesses")
    assert (refused.status, refused.code) == (401, "token_orphaned")
    # the act keeps its author, the usage its account
    events = connect_as("auditor").execute(
        "SELECT actor_id, organisation_id FROM audit_event WHERE kind = 'submission.admitted' AND subject_id = %s",
        [str(done.id)],
    )
    assert events.fetchall() == [(str(colleague.user.pseudonym), str(vendor.organisation.id))]
    assert Submission.objects.get(pk=done.pk).organisation_id == vendor.organisation.pk
    assert Slot.objects.filter(submission=done).count() == 1
    assert '"used": 1' in used
    assert counted(vendor) == used
    assert [found for found in live.check().findings if found.table.startswith("accounts_")] == []


def test_the_last_owner_stays(vendor: world.Vendor) -> None:
    world.colleague(vendor)
    row, client = membership(vendor.user), signed_in(vendor.user)
    for answer in (
        client.post(address("accounts:end_member", row.pk)),
        client.post(address("accounts:member", row.pk), {"role": "viewer"}),
    ):
        assert (answer.status_code, b"member_last_owner" in answer.content) == (409, True)
    assert membership(vendor.user).role == "owner"


def test_leaving_is_offered_to_who_may_leave(vendor: world.Vendor) -> None:
    """Not to the only owner, whom the page tells why; to two owners, and to whoever is none."""
    colleague = world.colleague(vendor)

    def offered(who: world.Vendor) -> tuple[bool, bool]:
        path, client = address("accounts:end_member", membership(who.user).pk), signed_in(who.user)
        page = client.get(address("accounts:members")).content.decode()
        return f'href="{path}"' in page, "btn-danger" in client.get(path).content.decode()

    assert (offered(vendor), offered(colleague)) == ((False, False), (True, True))
    page = signed_in(vendor.user).get(address("accounts:members")).content.decode()
    assert "the only owner" in page
    path = address("accounts:end_member", membership(vendor.user).pk)
    assert "Make another member an owner first." in signed_in(vendor.user).get(path).content.decode()
    by = accounts.actor_for(vendor.user, channel="web", organisation=vendor.organisation)
    members.set_role(membership(colleague.user), "owner", by=by)
    assert (offered(vendor), offered(colleague)) == ((True, True), (True, True))


@pytest.mark.serial
def test_owners_who_leave_at_once_leave_one(vendor: world.Vendor) -> None:
    people = [vendor.user, *(world.person() for _ in range(5))]
    for person in people[1:]:
        accounts.add_member(vendor.organisation, person, "owner", by=world.BY)
    works: list[Callable[[], object]] = []
    for number, person in enumerate(people):
        row, by = membership(person), accounts.actor_for(person, channel="web")
        if number % 2:
            works.append(lambda row=row, by=by: members.set_role(row, "viewer", by=by))
        else:
            works.append(lambda row=row, by=by: members.end_membership(row, by=by))
    said = at_once(works)
    assert sorted(said) == [*["done"] * 5, "member_last_owner"]
    assert Membership.objects.filter(organisation=vendor.organisation, role="owner").count() == 1


def test_somebody_of_two_organisations_goes_back_and_forth(vendor: world.Vendor) -> None:
    other = world.vendor()
    EmailAddress.objects.create(user=other.user, email=other.user.email, verified=True, primary=True)
    first = membership(other.user)
    client = signed_in(other.user)
    client.post(invited(vendor, other.user.email))
    shown = client.get(address("accounts:organisation"))
    assert shown.context["membership"].organisation == vendor.organisation
    client.post(address("accounts:choose_organisation", first.pk))
    shown = client.get(address("accounts:organisation"))
    assert shown.context["membership"] == first


def test_duties_keep_somebody_out_and_only_they_are_told(vendor: world.Vendor) -> None:
    staff = opened()
    person = staff.holder(Duty.TASK_AUTHOR)
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    link = invited(vendor, person.email)
    answer = signed_in(person).post(link)
    assert (answer.status_code, b"/problems/invitation_excluded/" in answer.content) == (409, True)
    page = signed_in(vendor.user).get(address("accounts:members")).content
    assert person.email.encode() in page  # still open, as any other that nobody accepted
    assert b"excluded" not in page
