"""Notices: once each, in the account's language, by mail as preferred; sent once whoever sends, again on failure."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import connections

from accounts import services as accounts
from accounts.models import Membership, User
from accounts.notices import delivery, queries, services
from accounts.notices.kinds import ALWAYS_MAILED, GROUP_WORDS, Group, Kind, group_of
from accounts.notices.models import Notice
from accounts.notices.texts import TEXTS
from config import clock
from tests.factories import saved
from tests.pages.site import address, signed_in
from tests.submissions import world

TOKEN = {"name": "nightly", "expires": "2026-12-14T08:30:00+00:00"}


@pytest.fixture
def person(db: None) -> User:
    return speaking("en")


def speaking(language: str) -> User:
    found = world.person()
    found.language = language
    saved(found)
    return found


def tell(person: User, kind: Kind = Kind.TOKEN_EXPIRING, subject: str = "1", **more: Any) -> None:
    services.notify([person], kind, subject=subject, facts=TOKEN, **more)


def test_every_kind_has_words_and_a_group() -> None:
    assert set(TEXTS) == set(Kind)
    assert {group_of(kind) for kind in Kind} == set(Group) == set(GROUP_WORDS)


@pytest.mark.parametrize(
    ("language", "word"), [("en", "A token expires: nightly"), ("zh-hans", "令牌即将到期：nightly")]
)
@pytest.mark.django_db
def test_it_comes_by_mail_and_in_the_site_in_the_accounts_language(language: str, word: str) -> None:
    person = speaking(language)
    tell(person)
    assert delivery.deliver_due() == 1
    (message,) = mail.outbox
    assert (message.to, message.subject) == ([person.email], f"[Lingee Bench] {word}")
    assert "2026-12-14 08:30 UTC" in message.body
    assert f"http://127.0.0.1:8000/{language}/v/tokens/" in message.body
    page = signed_in(person).get(address("accounts:notices", language=language)).content.decode()
    assert word in page
    assert address("submissions:tokens", language=language) in page


def test_told_twice_it_is_one_notice_and_one_mail(person: User) -> None:
    for _ in range(3):
        tell(person)
    tell(person, occasion="second")
    delivery.deliver_due()
    delivery.deliver_due()
    assert Notice.objects.filter(person=person).count() == len(mail.outbox) == 2


@pytest.mark.serial
@pytest.mark.django_db(transaction=True)
def test_eight_senders_at_once_send_each_mail_once(settings: Any) -> None:
    settings.EMAIL_BACKEND = "tests.notices.test_notices.SlowBackend"
    SlowBackend.taken = []
    people = [world.person() for _ in range(4)]
    for person in people:
        tell(person)
    gate = threading.Barrier(8)

    def send(_number: int) -> int:
        gate.wait()
        try:
            return delivery.deliver_due()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(8))) == 4
    assert sorted(SlowBackend.taken) == sorted(person.email for person in people)


class SlowBackend(EmailBackend):
    """A mail server that takes its time, so that senders meet."""

    taken: list[str] = []  # noqa: RUF012 - shared on purpose

    def send_messages(self, messages: Any) -> int:
        threading.Event().wait(0.2)
        SlowBackend.taken += [to for message in messages for to in message.to]
        return len(messages)


class BrokenBackend(EmailBackend):
    def send_messages(self, messages: Any) -> int:
        raise OSError("no such host: who@lingee.invalid")


def test_a_mail_server_that_is_away_is_tried_again_later_and_given_up(
    person: User, settings: Any, caplog: Any
) -> None:
    working, broken = settings.EMAIL_BACKEND, "tests.notices.test_notices.BrokenBackend"
    tell(person)
    settings.EMAIL_BACKEND = broken
    assert delivery.deliver_due() == 0
    assert "not mailed" in caplog.text
    assert "@" not in caplog.text
    settings.EMAIL_BACKEND = working
    assert delivery.deliver_due() == 0  # not yet
    with clock.shifted(timedelta(minutes=2)):
        assert delivery.deliver_due() == 1
    tell(person, subject="other")
    settings.EMAIL_BACKEND = broken
    for day in range(1, 9):
        with clock.shifted(timedelta(days=2 * day)):
            delivery.deliver_due()
    settings.EMAIL_BACKEND = working
    with clock.shifted(timedelta(days=99)):
        assert delivery.deliver_due() == 0
    assert Notice.objects.get(subject="other").mail_attempts == len(delivery.PAUSES) + 1


def test_one_that_cannot_be_written_does_not_hold_up_the_others(person: User, monkeypatch: Any) -> None:
    tell(person, subject="bad")
    tell(person, subject="good")
    real = delivery.shown

    def break_on_bad(notice: Notice, *, in_mail: bool) -> Any:
        assert notice.subject != "bad"
        return real(notice, in_mail=in_mail)

    monkeypatch.setattr(delivery, "shown", break_on_bad)
    assert delivery.deliver_due() == 1


def test_a_name_with_a_line_break_does_not_keep_its_mail_from_going(person: User) -> None:
    facts = {"name": "nightly\r\nBcc: somebody@example.com"}
    services.notify([person], Kind.TOKEN_LEAKED, subject="1", facts=facts)
    assert delivery.deliver_due() == 1
    assert mail.outbox[-1].subject.endswith("nightly Bcc: somebody@example.com")
    assert mail.outbox[-1].recipients() == [person.email]


def test_preferences_silence_mail_but_not_the_list_and_never_security(person: User) -> None:
    browser = signed_in(person)
    page = address("accounts:notice_settings")
    assert browser.get(page).content.decode().count("checked") == len(Group) - len(ALWAYS_MAILED)
    tell(person, subject="waits")
    assert browser.post(page, {"mailed": ["duties"], "language": "en"}).status_code == 302
    tell(person)
    tell(person, Kind.TOKEN_LEAKED)
    tell(person, Kind.DUTY_GIVEN)
    assert delivery.deliver_due() == 2
    assert queries.unread_count(person) == 4
    assert browser.get(page).content.decode().count("checked") == 1
    assert not queries.wants_scores(person)


def test_the_header_counts_what_is_unread_and_marking_is_ones_own(person: User) -> None:
    other, browser = world.person(), signed_in(person)
    for subject in "ab":
        tell(person, subject=subject)
    tell(other)
    home = address("accounts:notices")
    assert "2 unread notices" in browser.get(home).content.decode()
    theirs = Notice.objects.get(person=other)
    mine = Notice.objects.filter(person=person).order_by("id")
    for notice in (theirs.pk, mine[0].pk, "nonsense"):
        assert browser.post(address("accounts:notices_read"), {"notice": notice}).status_code == 302
    assert "1 unread notice" in browser.get(home).content.decode()
    browser.post(address("accounts:notices_read"), {"all": "1"})
    assert "unread" not in browser.get(home).content.decode()
    theirs.refresh_from_db()
    assert theirs.read_at is None


def test_a_stranger_is_led_to_the_sign_in(client: Any, db: None) -> None:
    for name in ("accounts:notices", "accounts:notice_settings"):
        assert client.get(address(name)).status_code == 302


@pytest.mark.django_db
def test_members_are_told_by_role_and_who_left_sees_and_gets_nothing() -> None:
    vendor = world.vendor()
    viewer, submitter = world.person(), world.colleague(vendor).user
    accounts.add_member(vendor.organisation, viewer, Membership.Role.VIEWER, by=world.BY)
    facts = {"submission": "x"}
    services.notify_organisation(vendor.organisation, Kind.PACKAGE_OPENED, subject="x", facts=facts)
    told = Notice.objects.filter(kind=Kind.PACKAGE_OPENED).values_list("person", flat=True)
    assert set(told) == {vendor.user.pk, submitter.pk}
    member = Membership.objects.get(user=submitter)
    member.role = Membership.Role.VIEWER
    saved(member)
    leave(submitter)
    assert queries.unread_count(submitter) == 0
    delivery.deliver_due()
    assert {to for message in mail.outbox for to in message.to} == {vendor.user.email}
    assert viewer.email not in str(mail.outbox)


def leave(person: User) -> None:
    from tests.factories import recorded

    member = Membership.objects.get(user=person)
    with recorded(member):
        member.delete()


@pytest.mark.django_db
def test_who_was_erased_or_suspended_gets_no_mail_and_leaves_no_notice() -> None:
    gone, stopped = world.person(), world.person()
    for person in (gone, stopped):
        tell(person)
    accounts.erase_person(gone, by=world.BY)
    accounts.suspend_user(stopped, by=world.BY)
    tell(gone)
    assert not Notice.objects.filter(person=gone).exists()
    assert delivery.deliver_due() == 0
    assert mail.outbox == []


@pytest.mark.django_db
def test_a_list_of_many_has_pages(person: User) -> None:
    for number in range(queries.PAGE + 3):
        tell(person, subject=str(number))
    browser = signed_in(person)
    first = browser.get(address("accounts:notices")).content.decode()
    last = queries.notices_of(person)[-1].pk
    assert f"?before={last}" in first
    second = browser.get(f"{address('accounts:notices')}?before={last}").content.decode()
    assert (first.count('<li class="unread">'), second.count('<li class="unread">')) == (queries.PAGE, 3)
    assert "Older notices" not in second
