"""Who submits whose harness: the owner is named, told before a third party's result is published, and may object."""

from __future__ import annotations

import json
import smtplib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.core import mail
from django.core.mail.backends import locmem

from accounts.duties.table import Duty
from accounts.models import Organisation
from accounts.notices.delivery import PAUSES
from audit.events import system
from benchmark.models import TaskSetVersion
from config import clock
from submissions.models import Harness, HarnessOwner, OwnerNotice, Submission
from submissions.relations import services
from submissions.relations.queries import Waits, publishable_from
from submissions.relations.texts import owners_mail
from submissions.services import register_harness, set_publication_consent
from submissions.tasks import tell_owners
from tests.accounts.duties import acting, opened
from tests.factories import saved
from tests.pages import site
from tests.pages.site import address, signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
OWNER = {"name": "Ada Example", "contact": "ada@owner.invalid"}
WORDS = "I agree that this harness is submitted. 2026-11-30, Ada Example"
POST = system("owner-notices")


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def reviewer() -> Any:
    return opened().holder(Duty.IDENTITY_REVIEWER)


def register(vendor: world.Vendor, relation: str, **owner: str) -> Any:
    body: dict[str, Any] = {"name": "theirs", "title": "Theirs", "relation": relation}
    return vendor.api.post("harnesses", body | ({"owner": owner} if owner else {}))


def submitted(
    vendor: world.Vendor, relation: str = "third_party", contact: str = OWNER["contact"]
) -> Submission:
    """One whose publication was agreed to."""
    statement = WORDS if relation == "consent" else ""
    named = services.Owner(OWNER["name"], contact, statement) if relation != "owner" else None
    harness = register_harness(
        vendor.organisation, name="theirs", title="Theirs", relation=relation, owner=named, by=vendor.actor
    )
    task_set = TaskSetVersion.objects.first() or site.task_set()
    found = vendor.submit(task_set, harness)
    set_publication_consent(found.id, consent="given", by=vendor.actor)
    return Submission.objects.get(pk=found.pk)


@pytest.mark.parametrize(
    ("relation", "owner", "paths"),
    [
        ("third_party", {}, ["$.owner"]),
        ("consent", {}, ["$.owner"]),
        ("consent", OWNER, ["$.owner.statement"]),
        ("third_party", {"name": "Ada", "contact": "nowhere"}, ["$.owner.contact"]),
        ("owner", OWNER, ["$.owner"]),
    ],
)
def test_whoever_is_not_the_owner_names_them(
    vendor: world.Vendor, relation: str, owner: dict[str, str], paths: list[str]
) -> None:
    refused = register(vendor, relation, **owner)
    assert (refused.status, refused.code) == (422, "invalid_field")
    assert [error["path"] for error in refused.body["errors"]] == paths
    assert not Harness.objects.exists()


def test_the_owner_is_kept_sealed_and_shown_to_who_named_them(
    vendor: world.Vendor, connect_as: Connect
) -> None:
    assert register(vendor, "consent", **OWNER, statement=WORDS).status == 201
    harness = Harness.objects.get()
    page = signed_in(vendor.user).get(address("submissions:harness", harness.id)).content.decode()
    assert "Ada Example (ada@owner.invalid)" in page
    owner = connect_as("owner")
    for table in ("submissions_harnessowner", "submissions_idempotencyrecord", "audit_event"):
        assert "ada@" not in str(owner.execute(f"SELECT * FROM {table}").fetchall())
    for role in ("execute", "sealed", "auditor"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT sealed FROM submissions_harnessowner")
    for statement in (
        "UPDATE submissions_harness SET relation = 'owner'",
        "DELETE FROM submissions_harnessowner",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as("web").execute(statement)


def test_the_form_names_the_owner_too(vendor: world.Vendor) -> None:
    browser, path = signed_in(vendor.user), address("submissions:new_harness")
    facts = {"name": "theirs", "title": "", "relation": "third_party"}
    refused = browser.post(path, facts)
    assert refused.status_code == 422
    assert "$.owner" in refused.content.decode()
    sent = browser.post(path, facts | {"owner_name": "Ada", "owner_contact": "ada@owner.invalid"})
    assert sent.status_code == 302
    assert services.owner_of(HarnessOwner.objects.get()).contact == "ada@owner.invalid"


@pytest.mark.parametrize("relation", ["owner", "consent"])
def test_an_owner_and_who_has_consent_wait_for_nobody(vendor: world.Vendor, relation: str) -> None:
    found = submitted(vendor, relation)
    assert publishable_from(found).since == found.admitted_at
    set_publication_consent(found.id, consent="withdrawn", by=vendor.actor)
    found.refresh_from_db()
    assert publishable_from(found).waits is Waits.NO_CONSENT


def test_a_third_partys_result_waits_fourteen_days_from_the_mail(
    vendor: world.Vendor, reviewer: Any, connect_as: Connect
) -> None:
    found = submitted(vendor)
    assert publishable_from(found).waits is Waits.NOT_ORDERED
    console = signed_in(reviewer)
    assert "ada@owner.invalid" in console.get(address("console:owners")).content.decode()
    for _ in range(2):  # a double click
        assert console.post(address("console:owner_notice", found.id)).status_code == 302
    assert (publishable_from(found).waits, mail.outbox) == (Waits.NOT_SENT, [])
    for _ in range(2):  # two ticks
        tell_owners()
    (sent,) = mail.outbox
    assert sent.to == ["ada@owner.invalid"]
    assert "Theirs" in sent.body
    assert "第三方" in sent.body or "third party" in sent.body
    notice = OwnerNotice.objects.get()
    assert notice.sent_at is not None
    assert publishable_from(found).since == notice.sent_at + timedelta(days=14)
    rows = (
        connect_as("auditor")
        .execute("SELECT kind, body FROM audit_event WHERE kind LIKE 'owner_notice.%' ORDER BY id")
        .fetchall()
    )
    assert [kind for kind, _ in rows] == ["owner_notice.ordered", "owner_notice.sent"]
    assert "ada@" not in json.dumps([str(body) for _, body in rows])


def test_a_mail_server_that_is_down_starts_no_clock(
    vendor: world.Vendor, reviewer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = submitted(vendor)
    services.order_notice(found.id, by=acting(reviewer))

    def down(self: Any) -> int:
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.EmailMessage.send", down)
        assert services.send_due_notices(by=POST) == 0
    assert publishable_from(found).waits is Waits.NOT_SENT
    assert services.send_due_notices(by=POST) == 0, "not before its pause is over"
    with clock.shifted(PAUSES[0]):
        assert services.send_due_notices(by=POST) == 1


class Fails(locmem.EmailBackend):
    """A mail server that takes everything but mails to one address, in whatever way it fails."""

    to = "ada@owner.invalid"
    error: Exception = ValueError("")
    asked = 0

    def send_messages(self, messages: Any) -> int:
        if any(self.to in message.to for message in messages):
            type(self).asked += 1
            raise self.error
        return super().send_messages(messages)


@pytest.fixture
def failing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> type[Fails]:
    settings.EMAIL_BACKEND = f"{__name__}.Fails"
    monkeypatch.setattr(Fails, "asked", 0)
    return Fails


@pytest.mark.parametrize(
    "error",
    [
        ValueError("header"),
        UnicodeEncodeError("ascii", "\u00e4", 0, 1, "no"),
        smtplib.SMTPRecipientsRefused({}),
        RuntimeError("?"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_one_that_fails_stops_no_other_and_is_given_up_at_last(
    vendor: world.Vendor,
    reviewer: Any,
    failing: type[Fails],
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    connect_as: Connect,
) -> None:
    monkeypatch.setattr(failing, "error", error)
    bad, good = submitted(vendor), submitted(world.vendor(), contact="good@owner.invalid")
    for found in (bad, good):
        services.order_notice(found.id, by=acting(reviewer))
    tell_owners()
    assert [sent.to for sent in mail.outbox] == [["good@owner.invalid"]]
    assert publishable_from(good).since is not None
    passed = timedelta(0)
    for number, pause in enumerate(PAUSES, start=1):
        assert (failing.asked, publishable_from(bad).waits) == (number, Waits.NOT_SENT)
        with clock.shifted(passed + pause - timedelta(seconds=30)):
            tell_owners()
        assert failing.asked == number
        passed += pause + timedelta(seconds=30)
        with clock.shifted(passed):
            tell_owners()
    with clock.shifted(passed + timedelta(days=30)):
        tell_owners()
    assert (failing.asked, publishable_from(bad).waits) == (len(PAUSES) + 1, Waits.GIVEN_UP)
    rows = connect_as("auditor").execute(
        "SELECT kind FROM audit_event WHERE kind LIKE 'owner_notice.%%' AND subject_id = %s ORDER BY id",
        [str(bad.id)],
    )
    assert [kind for (kind,) in rows] == ["owner_notice.ordered", "owner_notice.given_up"]


def test_what_was_given_up_is_ordered_anew_by_staff_who_looked_at_it(
    vendor: world.Vendor, reviewer: Any, failing: type[Fails], connect_as: Connect
) -> None:
    found, console = submitted(vendor), signed_in(reviewer)
    order, page = address("console:owner_notice", found.id), address("console:owners")
    assert console.post(order).status_code == 302
    for _ in range(len(PAUSES) + 1):
        OwnerNotice.objects.update(mail_due_at=clock.now())
        tell_owners()
    assert "the mail failed and was given up" in console.get(page).content.decode()
    for _ in range(2):  # a double click
        assert console.post(order).status_code == 302
    assert publishable_from(found).waits is Waits.NOT_SENT
    failing.to = "nobody"
    try:
        tell_owners()
    finally:
        failing.to = "ada@owner.invalid"
    assert [sent.to for sent in mail.outbox] == [["ada@owner.invalid"]]
    rows = connect_as("auditor").execute(
        "SELECT kind FROM audit_event WHERE kind LIKE 'owner_notice.%' ORDER BY id"
    )
    kinds = [f"owner_notice.{word}" for word in ("ordered", "given_up", "ordered", "sent")]
    assert [kind for (kind,) in rows] == kinds


def test_a_name_of_several_lines_is_refused_and_one_of_before_is_folded(
    vendor: world.Vendor, reviewer: Any
) -> None:
    for bad in ("Ada\nBcc: all@owner.invalid", "Ada\u2028Example", "Ada \u202egnp", "\x07", "Ada\x85b"):
        answer = register(vendor, "third_party", name=bad, contact="ada@owner.invalid")
        assert (answer.status, answer.body["errors"][0]["path"]) == (422, "$.owner.name"), bad
    answer = register(vendor, "third_party", name="Ada", contact='"a\x07b"@owner.invalid')
    assert (answer.status, answer.body["errors"][0]["path"]) == (422, "$.owner.contact")
    found = submitted(vendor)
    row = HarnessOwner.objects.get()
    subject, text = owners_mail(found, "Ada\r\nBcc: all@owner.invalid", row.filed_at)
    assert "Dear Ada Bcc: all@owner.invalid,\n" in text
    assert "\n" not in subject


def test_an_objection_stops_it(vendor: world.Vendor, reviewer: Any) -> None:
    found = submitted(vendor)
    console, path = signed_in(reviewer), address("console:owner_objection", found.id)
    assert console.get(path).status_code == 404
    services.order_notice(found.id, by=acting(reviewer))
    assert console.post(path, {"objection": "too early"}).status_code == 409
    tell_owners()
    assert console.post(path, {"objection": "It is not theirs."}).status_code == 302
    with clock.shifted(timedelta(days=30)):
        assert publishable_from(found).waits is Waits.OBJECTED
    assert console.post(path, {"objection": "again"}).status_code == 409
    assert "the owner objects" in console.get(address("console:owners")).content.decode()


def test_only_an_identity_reviewer_from_elsewhere_sees_and_orders_it(vendor: world.Vendor) -> None:
    found = submitted(vendor)
    engineer = signed_in(opened().holder(Duty.EVALUATION_ENGINEER))
    assert "ada@" not in engineer.get(address("console:owners")).content.decode()
    assert engineer.post(address("console:owner_notice", found.id)).status_code == 409
    assert signed_in(vendor.user).get(address("console:owners")).status_code == 404
    assert not OwnerNotice.objects.exists()


def test_the_database_holds_the_fourteen_days(
    vendor: world.Vendor, reviewer: Any, connect_as: Connect
) -> None:
    found = submitted(vendor)
    services.order_notice(found.id, by=acting(reviewer))
    early = (
        "UPDATE submissions_ownernotice SET mail_due_at = NULL, sent_at = now(), "
        "publishable_from = now() + interval '13 days'"
    )
    with pytest.raises(psycopg.errors.CheckViolation, match="owner_notice_fourteen_days"):
        connect_as("web").execute(early)
    tell_owners()
    for statement in (
        "UPDATE submissions_ownernotice SET sent_at = now() - interval '1 year'",
        "UPDATE submissions_ownernotice SET ordered_at = now()",
        "DELETE FROM submissions_ownernotice",
    ):
        with pytest.raises(psycopg.errors.IntegrityError, match=r"never changes|stays on record"):
            connect_as("owner").execute(statement)


def test_an_owners_own_and_an_unagreed_submission_are_no_matter_of_notice(
    vendor: world.Vendor, reviewer: Any
) -> None:
    found = submitted(vendor, "owner")
    answer = signed_in(reviewer).post(address("console:owner_notice", found.id))
    assert answer.status_code == 409
    assert "owner_notice_not_due" in answer.content.decode()


def test_a_third_partys_result_says_so_in_its_title(vendor: world.Vendor) -> None:
    found = site.moved(submitted(vendor), *site.TO_COMPLETE)
    site.release(found)
    page = signed_in(vendor.user).get(address("leaderboard:result", found.id)).content.decode()
    assert "submitted by a third party" in page.partition("</h1>")[0]


def test_the_operators_submission_goes_the_same_way_and_costs_the_same() -> None:
    """No back door: the same refusals, the same uses, the same ceiling as everybody's."""
    task_set = site.task_set(line=1, lineage=1)
    seen = []
    for operator in (False, True):
        found = world.vendor()
        if operator:
            organisation = Organisation.objects.get(pk=found.organisation.pk)
            organisation.is_operator = True
            saved(organisation)
        harness = found.harness()
        order = found.order(task_set, harness)
        first = found.api.post("submissions", world.body_of(order))
        second = found.api.post("submissions", world.body_of(found.order(task_set, found.harness("other"))))
        row = Submission.objects.select_related("slot").get(pk=first.body["id"])
        seen.append((first.status, second.status, second.code, row.slot.state, row.cooldown_until is None))
    assert seen[0] == seen[1]
    assert seen[0][:3] == (202, 429, "quota_lineage")
