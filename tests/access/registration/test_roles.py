"""The whole way under the database roles that really serve: site, console and workers, with their rights only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test import override_settings
from django.urls import get_resolver

from accounts.linking.models import LinkCase
from accounts.models import Registration, User
from accounts.registration import review, rules
from accounts.tasks import watch_registrations
from config import clock
from submissions.models import AdmissionStop
from submissions.services import stop_admission
from submissions.tasks import find_links
from tests.access.registration import filing
from tests.access.registration.filing import STATUS
from tests.access.registration.test_linking import submitted
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world
from tests.submissions.bundles import bundle

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def role(name: str) -> Iterator[None]:
    """Inside, this process's connection is that role and nothing besides."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE lingee_{name}")
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == (f"lingee_{name}",)
    assert get_resolver().url_patterns  # made once, while this process is every role's
    try:
        with override_settings(LINGEE_ROLE=name):
            yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")


def test_from_founding_to_verified(reviewers: tuple[User, User], transactional_db: None) -> None:
    person = world.person()
    founded = {"name": "Acme", "rules_version": rules.current().version, "accept": "on"}
    with role("web"):
        browser = signed_in(person)
        assert browser.post("/en/account/organisation/", founded).status_code == 302
        assert browser.post(filing.NEW, filing.form()).status_code == 302
        browser.post(f"{STATUS}mail/", {"address": "legal@jianghai.example"})
        link = filing.last_mail().split("http://testserver")[1].split()[0]
        assert browser.post(link).status_code == 200
        assert browser.get(STATUS).status_code == 200
        assert browser.get("/en/participation-rules/").status_code == 200
    row = Registration.objects.get()
    assert row.domain_method == "mail"
    one, other = (signed_in(each) for each in reviewers)
    with role("console"):
        assert one.get("/en/console/organisations/").status_code == 200
        assert one.get(filing.page(row.id)).status_code == 200
        assert one.get(filing.page(row.id, "evidence/1")).content == filing.PDF
        one.post(filing.page(row.id, "propose"), {"verdict": "verify"})
        other.post(filing.page(row.id, "return"))
        other.post(filing.page(row.id, "propose"), {"verdict": "verify"})
        one.post(filing.page(row.id, "confirm"))
        row.refresh_from_db()
        assert row.state == "verified"
        assert row.organisation.is_verified
        review.forget(row, by=world.BY)
    with role("sealed"):
        until = row.organisation.verified_until
        assert until is not None
        with clock.frozen(until.replace(hour=0, minute=0)):
            watch_registrations()


def test_from_a_signal_to_one_allowance(reviewers: tuple[User, User], transactional_db: None) -> None:
    version = site.task_set(lineage=2)
    one, other = world.vendor(), world.vendor()
    data = bundle("probe", "1.0")
    with role("web"):
        for vendor, address in ((one, "8.8.8.8"), (other, "8.8.8.9")):
            assert submitted(vendor, version, package=data, address=address).status == 202
    lineage = max(one.organisation.lineage_id, other.organisation.lineage_id)
    with role("sealed"):
        find_links()
        find_links()
        absorbed = (
            other.organisation.lineage
            if other.organisation.lineage_id == lineage
            else one.organisation.lineage
        )
        stop_admission(version, cause="governance", lineage=absorbed, by=world.BY)
    case = LinkCase.objects.get()
    assert [kind for kind, _mark in case.signals] == ["network", "package"]
    with role("web"):
        told = signed_in(one.user).get("/en/account/organisation/").content.decode()
        assert "Under verification" in told
    first, second = (signed_in(each) for each in reviewers)
    path = f"/en/console/links/{case.id}/"
    with role("console"):
        assert first.get("/en/console/links/").status_code == 200
        assert first.get(path).status_code == 200
        first.post(f"{path}propose/", {"verdict": "link", "reason": "one owner"})
        second.post(f"{path}return/")
        second.post(f"{path}propose/", {"verdict": "link", "reason": "one owner"})
        first.post(f"{path}confirm/")
    case.refresh_from_db()
    assert case.state == "linked"
    stops = AdmissionStop.objects.filter(lifted_at=None).values_list("lineage", flat=True)
    assert set(stops) == {case.absorbed_id, case.into_id}
    with role("web"):
        assert submitted(one, version).code == submitted(other, version).code == "admission_stopped"
