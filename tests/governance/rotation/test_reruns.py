"""When a version opens each combination published on the former one is offered a re-run: once, and nobody else is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.utils import translation

from accounts.notices import texts
from accounts.notices.models import Notice
from audit import live
from benchmark.models import TaskSetVersion
from config import clock
from governance.tasks import offer_reruns
from submissions.models import RerunOffer
from submissions.services import close_task_set, set_publication_consent
from tests.audit.test_log import Connect
from tests.factories import BY
from tests.governance.confirming import confirmed
from tests.governance.reruns import followed, offered, opening, published
from tests.governance.test_silences import answer, opened
from tests.submissions import world

pytestmark = pytest.mark.django_db

ITS_OWN_VERSION = """
INSERT INTO submissions_rerunoffer (id, former_id, task_set_id, organisation_id, harness_version_id, package_digest,
    state, offered_at, expires_at)
  SELECT gen_random_uuid(), s.id, s.task_set_id, s.organisation_id, s.harness_version_id, s.package_digest, 'open',
    now(), now() FROM submissions_submission s
"""


@pytest.fixture
def version() -> TaskSetVersion:
    return opened()


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


def test_each_published_combination_is_offered_one_and_nothing_else(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    """Beside a released result that nobody confirmed, a confirmed one without a date, and one withdrawn since."""
    other = world.vendor()
    shown = [published(vendor, version), published(other, version, 2, "demo-2")]
    taken_back = published(vendor, version, 3, "demo-3")
    answer(vendor, version, 4)
    late = answer(vendor, version, 5)
    confirmed(vendor, late)
    set_publication_consent(taken_back.id, consent="withdrawn", by=vendor.actor)
    following = followed(version)
    offer_reruns()
    assert not RerunOffer.objects.exists(), "nothing before it opens"
    opening(following)
    offer_reruns()
    found = RerunOffer.objects.order_by("id")
    assert {row.former_id for row in found} == {row.id for row in shown}
    for row in found:
        assert row.state == "open"
        assert row.task_set == following
        assert row.harness_version_id == row.former.harness_version_id
        assert row.package_digest == row.former.package_digest
        assert row.expires_at - row.offered_at == timedelta(days=90)
    published(other, version, 6, "demo-4")
    offer_reruns()
    assert RerunOffer.objects.count() == 2, "what is published after the opening is not offered again"


def test_a_version_that_follows_none_offers_none(vendor: world.Vendor, version: TaskSetVersion) -> None:
    published(vendor, version)
    world.task_set("apart")
    offer_reruns()
    assert not RerunOffer.objects.exists()


def test_those_who_act_for_the_vendor_are_told_in_both_languages(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    colleague = world.colleague(vendor)
    offer = offered(vendor, version)
    told = Notice.objects.filter(kind="rerun.offered")
    assert {row.person_id for row in told} == {vendor.user.pk, colleague.user.pk}
    assert all(row.mail_due_at is not None and row.subject == str(offer.id) for row in told)
    said = {}
    for language in ("en", "zh-hans"):
        with translation.override(language):
            found = texts.shown(told[0], in_mail=False)
            said[language] = found.title + found.sentence
    assert "c2" in said["en"]
    assert "no use of the quota" in said["en"]
    assert "重新运行" in said["zh-hans"]


def test_an_offer_ends_with_its_time_or_with_its_version(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    other = world.vendor()
    published(other, version, 2, "demo-2")
    offer = offered(vendor, version)
    with clock.shifted(timedelta(days=89)):
        offer_reruns()
    assert set(RerunOffer.objects.values_list("state", flat=True)) == {"open"}
    close_task_set(offer.task_set, by=BY)
    offer_reruns()
    assert set(RerunOffer.objects.values_list("state", flat=True)) == {"withdrawn"}


def test_after_ninety_days_it_is_over(vendor: world.Vendor, version: TaskSetVersion) -> None:
    offer = offered(vendor, version)
    with clock.shifted(timedelta(days=90, seconds=1)):
        offer_reruns()
    offer.refresh_from_db()
    assert offer.state == "expired"
    assert offer.ended_at is not None


@pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
def test_the_database_holds_offers_to_what_they_are_for(
    connect_as: Connect, sequence: Callable[[], Any]
) -> None:
    vendor, version = world.vendor(), opened()
    offered(vendor, version)
    for statement in (
        "DELETE FROM submissions_rerunoffer",
        "UPDATE submissions_rerunoffer SET package_digest = repeat('0', 64)",
        "UPDATE submissions_rerunoffer SET expires_at = expires_at + interval '1 year'",
        "UPDATE submissions_rerunoffer SET state = 'used', used_at = now(), submission_id = former_id",
        "UPDATE submissions_slot SET offer_id = (SELECT id FROM submissions_rerunoffer)",
        ITS_OWN_VERSION,
    ):
        with connect_as("owner") as owner, pytest.raises(psycopg.errors.IntegrityError) as refused:
            owner.execute(statement)
        assert "audit" not in str(refused.value), "refused by the guard, not for a missing event"
    for role in ("web", "console", "execute"):
        with connect_as(role) as who, pytest.raises(psycopg.errors.InsufficientPrivilege):
            who.execute(
                "INSERT INTO submissions_rerunoffer (id, former_id) SELECT gen_random_uuid(), id "
                "FROM submissions_submission"
            )
    sequence()
    assert not [found for found in live.check().findings if "rerun" in str(found)]
