"""Who leaves and is invited again begins anew: no token of the former membership works."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.exceptions import PermissionDenied
from django.db import connection

from accounts import services as accounts
from accounts.members import services as members
from accounts.models import ApiToken, Membership
from tests.accounts.test_erasure import Connect
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def back_again(vendor: world.Vendor, colleague: world.Vendor) -> None:
    """Removed by an owner on the page, then invited and accepted by the mailed link."""
    owner, browser = signed_in(vendor.user), signed_in(colleague.user)
    EmailAddress.objects.create(user=colleague.user, email=colleague.user.email, verified=True, primary=True)
    row = Membership.objects.get(user=colleague.user, organisation=vendor.organisation)
    assert owner.post(address("accounts:end_member", row.pk)).status_code == 302
    assert colleague.api.get("harnesses").code == "token_orphaned"
    form = {"address": colleague.user.email, "role": Membership.Role.SUBMITTER}
    assert owner.post(address("accounts:members"), form).status_code == 302
    link = re.search(r"https?://[^/]+(/\S+)", str(mail.outbox[-1].body)).group(1)  # type: ignore[union-attr]
    assert browser.post(link).status_code == 302
    assert Membership.objects.filter(user=colleague.user, organisation=vendor.organisation).exists()


def test_tokens_of_the_former_membership_stay_ended(vendor: world.Vendor, connect_as: Connect) -> None:
    colleague = world.colleague(vendor)
    assert colleague.api.get("harnesses").status == 200
    back_again(vendor, colleague)
    refused = colleague.api.get("harnesses")
    assert (refused.status, refused.code) == (401, "token_orphaned")
    token, text = accounts.issue_token(
        colleague.user, vendor.organisation, name="new", scopes=["read"], by=colleague.actor
    )
    assert world.Api(text).get("harnesses").status == 200
    assert vendor.api.get("harnesses").status == 200  # nobody else's was touched
    told = connect_as("auditor").execute(
        "SELECT subject_id, convert_from(body, 'UTF8')::json->'data'->>'cause' FROM audit_event "
        "WHERE kind = 'token.revoked'"
    )
    assert told.fetchall() == [(str(colleague.token.public_id), "left")]
    assert token.revoked_at is None


def test_tokens_for_another_organisation_are_left_alone(vendor: world.Vendor) -> None:
    colleague, elsewhere = world.colleague(vendor), world.vendor()
    accounts.add_member(elsewhere.organisation, colleague.user, "viewer", by=world.BY)
    _, text = accounts.issue_token(
        colleague.user, elsewhere.organisation, name="other", scopes=["read"], by=colleague.actor
    )
    row = Membership.objects.get(user=colleague.user, organisation=vendor.organisation)
    members.end_membership(row, by=colleague.actor)
    assert world.Api(text).get("harnesses").status == 200


def test_a_token_made_while_its_holder_leaves_does_not_outlive_them(vendor: world.Vendor) -> None:
    """Twenty times both at once: either there is no token, or it is ended."""
    for _ in range(20):
        colleague = world.colleague(vendor)
        row = Membership.objects.get(user=colleague.user, organisation=vendor.organisation)
        ready = threading.Barrier(2)

        def leave(row: Any = row, by: Any = colleague.actor, ready: Any = ready) -> None:
            ready.wait()
            members.end_membership(row, by=by)
            connection.close()

        leaving = threading.Thread(target=leave)
        leaving.start()
        ready.wait()
        with suppress(PermissionDenied):
            accounts.issue_token(
                colleague.user, vendor.organisation, name="late", scopes=["read"], by=colleague.actor
            )
        leaving.join()
        assert not ApiToken.objects.filter(user=colleague.user, revoked_at=None).exists()
