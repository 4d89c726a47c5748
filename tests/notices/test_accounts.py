"""What staff decide about an organisation, and duties that begin, end soon and end, are told whom they concern."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail

from accounts import services as accounts
from accounts.duties import services as duties
from accounts.duties.table import Duty
from accounts.models import Membership
from accounts.notices import delivery
from accounts.notices.models import Notice
from accounts.tasks import deliver_mail, remind_of_duties
from audit.models import EventRecord
from config import clock
from tests.accounts.duties import TERM, acting, member_of_staff, opened
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db


def kinds_of(person: object) -> list[str]:
    return list(Notice.objects.filter(person=person).order_by("id").values_list("kind", flat=True))


def test_everybody_of_an_organisation_learns_what_staff_decided() -> None:
    vendor, viewer = world.vendor(verified=False), world.person()
    accounts.add_member(vendor.organisation, viewer, Membership.Role.VIEWER, by=world.BY)
    accounts.verify_organisation(vendor.organisation, by=world.BY)
    accounts.suspend_organisation(vendor.organisation, by=world.BY)
    for person in (vendor.user, viewer):
        assert kinds_of(person) == ["organisation.verified", "organisation.suspended"]


def test_a_duty_is_told_when_given_before_its_end_once_and_when_ended() -> None:
    office, person = opened(), member_of_staff()
    row = office.give(person, Duty.ARBITER)
    assert kinds_of(person) == ["duty.given"]
    remind_of_duties()
    assert kinds_of(person) == ["duty.given"]
    with clock.shifted(TERM - timedelta(days=13)):
        remind_of_duties()
        remind_of_duties()
        deliver_mail()
        assert kinds_of(person) == ["duty.given", "duty.ending"]
        assert "仲裁" in "".join(found.body for found in mail.outbox if found.to == [person.email])
        duties.end(row, reason="moved on", by=acting(office.first))
    assert kinds_of(person)[-1] == "duty.ended"


def test_the_language_of_mail_is_chosen_on_the_page_and_on_record() -> None:
    person = world.person()
    before = EventRecord.objects.values("id").count()
    page = address("accounts:notice_settings")
    form = {"language": "en", "mailed": ["organisation"]}
    assert signed_in(person).post(page, {**form, "language": "tlh"}).status_code == 200
    for _ in range(2):
        assert signed_in(person).post(page, form).status_code == 302
    person.refresh_from_db()
    assert person.language == "en"
    assert EventRecord.objects.values("id").count() == before + 1
    with pytest.raises(ValueError, match="no language"):
        accounts.set_language(person, "tlh", by=world.BY)
    assert delivery.deliver_due() == 0
