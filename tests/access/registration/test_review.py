"""Two identity reviewers decide who an organisation is: deadlines, four eyes, own cases, reads, expiry."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connections

from accounts import services as accounts
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from accounts.models import Notice, Registration, User
from accounts.registration import review
from accounts.registration.policies import answer_due
from accounts.tasks import watch_registrations
from audit.texts import is_of
from config import clock
from tests.access.registration import filing
from tests.access.registration.filing import PDF, STATUS, page
from tests.accounts.duties import acting, member_of_staff, opened
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
LIST = "/en/console/organisations/"
VERIFY = {"verdict": "verify", "ground": "", "words": ""}
REFUSE = {"verdict": "refuse", "ground": "data_differ", "words": "The number belongs to another company."}


def bodies(connect_as: Connect, *kinds: str) -> list[dict[str, Any]]:
    rows = connect_as("auditor").execute(
        "SELECT body FROM audit_event WHERE kind = ANY (%s) ORDER BY id", [[*kinds]]
    )
    return [json.loads(body) for (body,) in rows]


def test_two_people_verify_and_the_organisation_can_submit(
    new: world.Vendor, reviewers: tuple[User, User], connect_as: Connect
) -> None:
    row = filing.confirmed(new)
    one, other = (signed_in(person) for person in reviewers)
    assert page(row.id) in one.get(LIST).content.decode()
    shown = one.get(page(row.id)).content.decode()
    assert "91310000MA1K35XY7Z" in shown
    assert one.post(page(row.id, "propose"), VERIFY).status_code == 302
    assert "duty_one_person" in one.post(page(row.id, "confirm"), follow=True).content.decode()
    new.organisation.refresh_from_db()
    assert not new.organisation.is_verified
    assert "under review" in signed_in(new.user).get(STATUS).content.decode().lower()
    other.post(page(row.id, "confirm"))
    new.organisation.refresh_from_db()
    assert new.organisation.is_verified
    assert Notice.objects.filter(person=new.user, kind="organisation.verified").count() == 1
    assert new.organisation.verified_until is not None
    assert new.organisation.verified_at is not None
    assert new.organisation.verified_until - new.organisation.verified_at == timedelta(days=365)
    (event,) = bodies(connect_as, "organisation.verified")
    assert event["data"]["registration"] == str(row.id)
    assert row.id.hex not in one.get(LIST).content.decode()
    version, harness = site.task_set(), new.harness()
    assert new.api.post("submissions", world.body_of(new.order(version, harness))).status == 202


def test_a_refusal_gives_reason_and_text_and_can_be_filed_again(
    new: world.Vendor, reviewers: tuple[User, User], connect_as: Connect
) -> None:
    row = filing.filed(new)
    one, other = (signed_in(person) for person in reviewers)
    for wrong, code in (
        (REFUSE | {"words": " "}, "registration_no_ground"),
        (REFUSE | {"ground": ""}, "registration_no_ground"),
        (VERIFY, "registration_domain_open"),
        ({"verdict": "maybe"}, "maybe is not one of the available choices"),
    ):
        answer = one.post(page(row.id, "propose"), wrong)
        assert answer.status_code in (409, 422)
        assert code in answer.content.decode()
    one.post(page(row.id, "propose"), REFUSE)
    vendor = signed_in(new.user)
    assert REFUSE["words"] not in vendor.get(STATUS).content.decode()
    other.post(page(row.id, "return"))
    row.refresh_from_db()
    assert (row.state, row.words, row.proposed_by_id) == ("filed", "", None)
    other.post(page(row.id, "propose"), REFUSE)
    one.post(page(row.id, "confirm"))
    shown = vendor.get(STATUS).content.decode()
    assert REFUSE["words"] in shown
    assert "data differ from the register" in shown
    told = bodies(connect_as, "registration.proposed")[-1]["data"]["words"]
    assert is_of(told, REFUSE["words"])
    assert filing.filed(new).id != row.id


def test_each_view_of_the_data_is_an_event_before_the_body(
    new: world.Vendor, reviewers: tuple[User, User], connect_as: Connect
) -> None:
    row, browser = filing.filed(new), signed_in(reviewers[0])
    browser.get(page(row.id))
    answer = browser.get(page(row.id, "evidence/1"))
    assert answer.content == PDF
    assert answer.headers["Content-Disposition"] == 'attachment; filename="evidence-1.pdf"'
    assert answer.headers["Content-Type"] == "application/octet-stream"
    seen = bodies(connect_as, "registration.read", "evidence.read")
    assert [(body["kind"], body["actor"]["id"], body["subject"]["id"]) for body in seen] == [
        ("registration.read", str(reviewers[0].pseudonym), str(row.id)),
        ("evidence.read", str(reviewers[0].pseudonym), str(row.id)),
    ]
    serving = "lingee_web, lingee_execute, lingee_sealed, lingee_console"
    connect_as("owner").execute(f"REVOKE INSERT (body) ON audit_event FROM {serving}")
    for path in (page(row.id), page(row.id, "evidence/1")):
        unrecorded = browser.get(path)
        assert unrecorded.status_code == 503
        assert b"91310000MA1K35XY7Z" not in unrecorded.content
        assert PDF not in unrecorded.content


def test_other_staff_and_members_of_the_organisation_find_no_such_page(
    new: world.Vendor, reviewers: tuple[User, User], settings: Any
) -> None:
    row, office = filing.filed(new), opened()
    member = member_of_staff()
    accounts.add_member(new.organisation, member, "viewer", by=world.BY)
    people = [member_of_staff(), office.first, office.holder(Duty.HELD_OUT_GOVERNOR), member, new.user]
    for person in people:
        browser = signed_in(person)
        for path in (page(row.id), page(row.id, "evidence/1")):
            assert browser.get(path).status_code == 404
        for act in ("propose", "confirm", "return"):
            assert browser.post(page(row.id, act), VERIFY).status_code == 404
    browser = signed_in(reviewers[0])
    assert browser.get(page(row.id, "evidence/2")).status_code == 404
    assert browser.post(page(row.id, "else")).status_code == 404
    settings.LINGEE_ROLE = "web"
    assert browser.get(page(row.id)).status_code == 404


def test_the_database_holds_the_two_people_and_the_own_case(
    new: world.Vendor, reviewers: tuple[User, User], connect_as: Connect
) -> None:
    row = filing.confirmed(new)
    console = connect_as("console")
    stranger = member_of_staff()

    def propose(who: User) -> None:
        console.execute(
            "UPDATE accounts_registration SET state = 'proposed', verdict = 'verify', proposed_by = %s, "
            "proposed_at = now() WHERE id = %s",
            [who.pseudonym, row.id],
        )

    with pytest.raises(psycopg.errors.IntegrityError, match="only identity reviewers"):
        propose(stranger)
    with pytest.raises(psycopg.errors.IntegrityError, match="no audit event"):
        propose(reviewers[0])
    review.propose(row, verdict="verify", ground="", words="", by=acting(reviewers[0]))
    for who, rule in ((reviewers[0], "registration_two_people"), (stranger, "only identity reviewers")):
        with pytest.raises(psycopg.errors.IntegrityError, match=rule):
            console.execute(
                "UPDATE accounts_registration SET state = 'verified', decided_by = %s, decided_at = now() "
                "WHERE id = %s",
                [who.pseudonym, row.id],
            )
    for statement in (
        "UPDATE accounts_registration SET domain = 'else.example'",
        "UPDATE accounts_registration SET state = 'filed', proposed_by = NULL, verdict = '', due_at = now()",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            console.execute(statement)
        with pytest.raises(psycopg.errors.IntegrityError, match="does not change"):
            connect_as("owner").execute(statement)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute("UPDATE accounts_registration SET state = 'verified'")
    with pytest.raises(psycopg.errors.IntegrityError, match="stay on record"):
        connect_as("owner").execute("DELETE FROM accounts_registration")


def test_two_who_confirm_at_once_decide_once(
    new: world.Vendor, reviewers: tuple[User, User], connect_as: Connect
) -> None:
    row = filing.confirmed(new)
    third = opened().holder(Duty.IDENTITY_REVIEWER)
    review.propose(row, verdict="verify", ground="", words="", by=acting(reviewers[0]))
    barrier, said = threading.Barrier(2), []

    def confirm(person: User) -> None:
        try:
            found = Registration.objects.get(pk=row.pk)
            barrier.wait()
            review.confirm(found, by=acting(person))
            said.append("done")
        except ValueError as refused:
            said.append(str(refused))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=confirm, args=[person]) for person in (reviewers[1], third)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(word == "done" for word in said) == [False, True]
    assert "registration_not_proposed" in " ".join(said)
    assert len(bodies(connect_as, "organisation.verified")) == 1


def test_a_reviewer_whose_duty_is_over_confirms_nothing(
    new: world.Vendor, reviewers: tuple[User, User]
) -> None:
    row = filing.confirmed(new)
    review.propose(row, verdict="verify", ground="", words="", by=acting(reviewers[0]))
    with clock.shifted(timedelta(days=101)), pytest.raises(DutyRefused) as refused:
        review.confirm(row, by=acting(reviewers[1]))
    assert refused.value.reason == "decision_not_entitled"


# --- deadlines -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filed", "due"),
    [
        ((2026, 11, 30, 9, 15), (2026, 12, 3, 9, 15)),  # Monday → Thursday
        ((2026, 12, 2, 9, 15), (2026, 12, 7, 9, 15)),  # Wednesday → Monday
        ((2026, 12, 4, 23, 59), (2026, 12, 9, 23, 59)),  # Friday → Wednesday
        ((2026, 12, 5, 9, 15), (2026, 12, 10, 0, 0)),  # Saturday counts from Monday on
        ((2026, 12, 6, 23, 59), (2026, 12, 10, 0, 0)),
    ],
)
def test_three_working_days(filed: tuple[int, ...], due: tuple[int, ...]) -> None:
    assert answer_due(datetime(*filed, tzinfo=UTC)) == datetime(*due, tzinfo=UTC)  # type: ignore[misc,arg-type]


def test_what_is_overdue_stands_on_top_and_is_marked(
    new: world.Vendor, reviewers: tuple[User, User], caplog: Any
) -> None:
    early = filing.filed(new)
    with clock.shifted(timedelta(days=1)):
        late = filing.filed(world.vendor(verified=False))
    browser = signed_in(reviewers[0])
    text = browser.get(LIST).content.decode()
    assert text.index(page(early.id)) < text.index(page(late.id))
    assert "overdue" not in text
    with clock.frozen(early.due_at):
        text = browser.get(LIST).content.decode()
        assert text.count("overdue") == 1
        assert text.index(page(early.id)) < text.index("overdue") < text.index(page(late.id))
        watch_registrations()
    assert [record.getMessage() for record in caplog.records if "overdue" in record.getMessage()] == [
        f"registrations are overdue: 1, the oldest {early.id}"
    ]
    assert f'datetime="{early.due_at.isoformat()}"' in signed_in(new.user).get(STATUS).content.decode()


# --- expiry --------------------------------------------------------------------------------------


@pytest.mark.case("E55")
@pytest.mark.acceptance("access:1")
def test_the_state_of_verification_has_one_source_for_web_and_api(
    new: world.Vendor, reviewers: tuple[User, User], settings: Any
) -> None:
    """What the one row says is what the page says, what the API says and what decides about a submission."""
    settings.VERIFICATION_HOLDS = timedelta(days=40)
    version, browser = site.task_set(), signed_in(new.user)
    order = world.body_of(new.order(version, new.harness()))

    def said() -> tuple[str, str, str]:
        shown = browser.get("/en/account/organisation/").content.decode()
        (word,) = [word for word in WORDS if f"</svg>{word}</span>" in shown]
        answer = new.api.post("submissions", order)
        return WORDS[word], str(new.api.get("organisation").body["verification"]), answer.code or "admitted"

    assert said() == ("under_review", "under_review", "organisation_not_verified")
    filing.verified(new, *reviewers)
    new.organisation.refresh_from_db()
    until = new.organisation.verified_until
    assert until is not None
    with clock.frozen(until):
        assert said() == ("expired", "expired", "verification_expired")
    assert said() == ("verified", "verified", "admitted")
    accounts.suspend_organisation(new.organisation, by=world.BY)
    assert said() == ("suspended", "suspended", "organisation_suspended")


WORDS = {
    "under review": "under_review",
    "verified": "verified",
    "verification expired": "expired",
    "suspended": "suspended",
}


def test_an_expired_organisation_uploads_registers_again_and_submits(
    new: world.Vendor, reviewers: tuple[User, User], settings: Any
) -> None:
    settings.VERIFICATION_HOLDS = timedelta(days=40)
    filing.verified(new, *reviewers)
    version, harness = site.task_set(), new.harness()
    new.organisation.refresh_from_db()
    until = new.organisation.verified_until
    assert until is not None
    for days, soon in ((31, False), (29, True)):
        with clock.frozen(until - timedelta(days=days)):
            assert ("expires soon" in signed_in(new.user).get(STATUS).content.decode()) is soon
            watch_registrations()
            watch_registrations()
            told = Notice.objects.filter(person=new.user, kind="registration.expiring")
            assert told.count() == int(soon)
    with clock.shifted(timedelta(days=41)):
        order = world.body_of(new.order(version, harness))
        assert new.api.post("submissions", order).code == "verification_expired"
        filing.verified(new, *reviewers)
        new.organisation.refresh_from_db()
        again = new.organisation.verified_until
        assert again is not None
        assert again > until + timedelta(days=39)
        assert new.api.post("submissions", order).status == 202
