"""Each end of a submission is told once, in the site and by mail, in the account's language, never before its page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import transaction
from django.utils import translation

from accounts.models import Membership, User
from accounts.notices import delivery
from accounts.notices.models import Notice
from accounts.notices.services import set_preferences
from benchmark.models import TaskSetVersion
from config import clock
from submissions import services
from submissions.models import Submission
from submissions.problems import Code, entry
from submissions.services.moves import locked, move
from submissions.services.progress import advance
from tests.factories import recorded, saved
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import outcomes, world
from tests.submissions.bundles import bundle
from tests.submissions.outcomes import bring_to

pytestmark = [pytest.mark.django_db, pytest.mark.acceptance("access:1")]
LANGUAGES = ["en", "zh-hans"]
WORDS = {
    "complete": ("Result released", "结果已发布"),
    "cancelled": ("Cancelled", "已取消"),
    "rejected": ("Rejected at intake", "收件时被拒"),
    "preflight_failed": ("Preflight failed", "预检未通过"),
    "incomplete": ("Kept as incomplete", "保留为未完成"),
    "voided": ("Voided", "已作废"),
    "awaiting_choice": ("Your choice is needed", "需要您选择"),
    "held": ("Held for review", "暂留复核"),
    "paused": ("Paused", "已暂停"),
}


@pytest.fixture
def version() -> TaskSetVersion:
    return site.task_set(in_flight=9, line=9, account=9, lineage=9)


def vendor_speaking(language: str) -> world.Vendor:
    vendor = world.vendor()
    vendor.user.language = language
    saved(vendor.user)
    Notice.objects.filter(person=vendor.user).update(mail_due_at=None)  # of its verification
    return vendor


def fresh(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    return vendor.submit(version, vendor.harness())


def rejected(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    harness = vendor.harness()
    made = vendor.version(harness)
    upload = vendor.upload(made, bundle("somebody-else", made.version))
    order = services.Order(vendor.organisation, made, version, upload)
    receipt = services.submit(order, by=vendor.actor, key="rejected")
    services.check(receipt.submission_id)
    return Submission.objects.get(pk=receipt.submission_id)


def crashed(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    found = bring_to(fresh(vendor, version), "preflight")
    assert found.preflight_run is not None
    outcomes.public_results(found.preflight_run, crashed=99)
    advance(found.id)
    return found


def released(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    found = bring_to(fresh(vendor, version), "grading")
    site.release(found)
    return services.conclude(found, "complete", by=world.BY)


def waiting(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    found = bring_to(fresh(vendor, version), "grading")
    return services.conclude(found, "awaiting_choice", by=world.BY)


def cancelled(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    return services.cancel(fresh(vendor, version).id, by=vendor.actor)


def chosen(choice: str) -> Callable[..., Submission]:
    def choose(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
        return services.choose(waiting(vendor, version).id, choice, by=vendor.actor)

    return choose


WAYS: dict[str, Callable[..., Submission]] = {
    "complete": released,
    "cancelled": cancelled,
    "rejected": rejected,
    "preflight_failed": crashed,
    "incomplete": chosen("keep"),
    "voided": chosen("void"),
    "awaiting_choice": waiting,
    "held": lambda vendor, version: bring_to(fresh(vendor, version), "held"),
    "paused": lambda vendor, version: bring_to(fresh(vendor, version), "paused"),
}
"""How a submission comes to each state that is told, by what workers, staff and vendors call."""


def mails_to(person: User, state: str) -> list[Any]:
    titles = WORDS[state]
    return [
        found
        for found in mail.outbox
        if found.to == [person.email] and any(t in found.subject for t in titles)
    ]


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("G13")
@pytest.mark.case("U9")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", WAYS)
def test_one_mail_and_one_notice_in_the_accounts_language(
    state: str, language: str, version: TaskSetVersion
) -> None:
    vendor = vendor_speaking(language)
    found = WAYS[state](vendor, version)
    found.refresh_from_db()
    assert found.state == state
    for _ in range(3):  # ticks, tickets and sweeps that come again
        advance(found.id)
        delivery.deliver_due()
    (message,) = mails_to(vendor.user, state)
    word = WORDS[state][LANGUAGES.index(language)]
    assert message.subject.startswith(f"[Lingee Bench] {word}")
    assert f"/{language}/v/submissions/{found.id}/" in message.body
    with translation.override(language):
        assert str(entry(found.reason_code).remedy) in message.body
    (notice,) = Notice.objects.filter(person=vendor.user, kind=f"submission.{state}")
    assert notice.facts["code"] == found.reason_code != ""
    page = signed_in(vendor.user).get(address("accounts:notices", language=language)).content.decode()
    assert page.count(f"{word}") >= 1
    assert f"/{language}/v/submissions/{found.id}/" in page


@pytest.mark.case("U9")
def test_all_terminal_states_are_among_them() -> None:
    from submissions.policies.states import ENDS

    assert set(WAYS) > ENDS - {"preflight_passed"}  # which no submission comes to


@pytest.mark.case("U9")
def test_preferences_are_respected_and_the_list_is_complete_all_the_same(version: TaskSetVersion) -> None:
    vendor = vendor_speaking("en")
    set_preferences(vendor.user, mailed=["duties"], scores_in_mail=False)
    cancelled(vendor, version)
    assert delivery.deliver_due() == 0
    assert Notice.objects.filter(person=vendor.user, kind="submission.cancelled", read_at=None).exists()


@pytest.mark.case("U9")
@pytest.mark.case("E51")
@pytest.mark.django_db(transaction=True)
def test_scores_are_in_the_mail_of_who_asked_for_them_and_that_is_on_record(
    version: TaskSetVersion, connect_as: Callable[[str], Any]
) -> None:
    auditor = connect_as("auditor")

    def surfaces() -> list[str]:
        rows = auditor.execute("SELECT body FROM audit_event WHERE kind = 'result.read'").fetchall()
        return [json.loads(body)["data"]["surface"] for (body,) in rows]

    def mailed(*, scores: bool) -> str:
        vendor = vendor_speaking("en")
        set_preferences(vendor.user, mailed=["submissions"], scores_in_mail=scores)
        released(vendor, version)
        delivery.deliver_due()
        (message,) = mails_to(vendor.user, "complete")
        page = signed_in(vendor.user).get(address("accounts:notices")).content.decode()
        assert "±" not in page
        return str(message.body)

    value, h = site.VALUES["general"]
    plain = mailed(scores=False)
    assert not re.search(r"±|%|: \d", plain)
    assert surfaces() == []
    assert f": {value} ± {h}" in mailed(scores=True)
    assert surfaces() == ["mail"]


@pytest.mark.case("U9")
def test_nothing_is_told_of_a_move_that_was_rolled_back_nor_before_the_page_shows_it(
    version: TaskSetVersion,
) -> None:
    vendor = vendor_speaking("en")
    found = bring_to(fresh(vendor, version), "grading")
    site.release(found)
    told = Notice.objects.filter(person=vendor.user, kind="submission.complete")
    with transaction.atomic():
        move(locked(found.pk), "complete", cause=Code.RESULTS_RELEASED, by=world.BY)
        assert told.exists()
        transaction.set_rollback(True)
    assert not told.exists()
    services.conclude(found, "complete", by=world.BY)
    transition = found.transitions.get(state="complete")
    assert told.get().created_at >= transition.at
    assert vendor.api.get(f"submissions/{found.id}").body["state"] == "complete"


def test_a_second_pause_is_told_again(version: TaskSetVersion) -> None:
    vendor = vendor_speaking("en")
    found = bring_to(fresh(vendor, version), "paused")
    services.resume(found.id, by=world.BY)
    with clock.shifted(timedelta(hours=1)):
        services.pause(found.id, by=world.BY)
    assert Notice.objects.filter(kind="submission.paused", person=vendor.user).count() == 2


def test_who_left_is_not_told_but_the_owners_are(version: TaskSetVersion) -> None:
    vendor = vendor_speaking("en")
    colleague = world.colleague(vendor)
    found = fresh(colleague, version)
    member = Membership.objects.get(user=colleague.user)
    with recorded(member):
        member.delete()
    services.cancel(found.id, by=vendor.actor)
    delivery.deliver_due()
    assert mails_to(colleague.user, "cancelled") == []
    assert len(mails_to(vendor.user, "cancelled")) == 1


def test_a_returned_use_is_told_with_the_words_of_staff(version: TaskSetVersion) -> None:
    vendor = vendor_speaking("en")
    found = bring_to(fresh(vendor, version), "running")
    cause = Code.REFUND_BY_STAFF
    services.refund(found, cause=cause, by=world.BY, reason="The network of the site was down.")
    delivery.deliver_due()
    (message,) = [found for found in mail.outbox if "A use was returned" in found.subject]
    assert "The network of the site was down." in message.body
