"""From filing to a ruling by two people without ties, late ones handed on, and effects carried out once."""

from __future__ import annotations

import psycopg
import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError

from accounts import services as accounts
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from accounts.models import Membership, Organisation
from accounts.notices.models import Notice
from benchmark.models import TaskSetVersion
from config import clock, workdays
from governance.appeals import conflicts, services
from governance.appeals.models import Appeal, Draft, RuledEffect, Ruling
from governance.appeals.policies import Effect
from governance.appeals.services import effects
from governance.appeals.tasks import tick
from governance.desk import services as desk
from governance.desk.queries import hold_of
from governance.records.models import ChangeLogLine
from governance.rotation import services as queue
from submissions.models import Slot, Submission
from submissions.problems import Refused
from submissions.returns import services as returns
from tests.accounts.duties import acting, opened
from tests.audit.test_log import Connect
from tests.factories import BY, recorded, recorded_as
from tests.governance.appeals import arranged
from tests.governance.appeals.arranged import Bench, drafted, examined, filed, held, later, released, ruled
from tests.governance.rotation import rows
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> TaskSetVersion:
    return site.task_set(line=9, lineage=9, account=9, in_flight=9)


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def staff() -> Bench:
    return arranged.bench()


@pytest.fixture
def appeal(vendor: world.Vendor, version: TaskSetVersion) -> Appeal:
    return filed(vendor, version, submission=released(vendor, version))


def counted(submission: Submission | None) -> Slot:
    """The use of a submission that a test moved without workers, consumed as by them."""
    slot = Slot.objects.get(submission=submission)
    assert slot.state == "consumed"
    return slot


@pytest.mark.acceptance("governance:8")
def test_a_hold_that_a_ruling_lifts_costs_nothing_and_stands_in_the_change_log(
    vendor: world.Vendor, version: TaskSetVersion, staff: Bench
) -> None:
    submission = held(vendor, version)
    row = filed(vendor, version, subject="hold", submission=submission)
    ruled(row, staff, text="The change is explained.", effects=["lift_hold", "refund"])
    for _ in range(2):
        tick()
    hold = hold_of(submission)
    assert hold is not None
    assert (hold.state, hold.why, hold.ruling) == ("lifted", "ruling", row.id)
    assert Slot.objects.get(submission=submission).cause == "hold_lifted"
    found = dict(RuledEffect.objects.values_list("kind", "result"))
    assert found == {"lift_hold": "done", "refund": "nothing_to_do", "line": "done"}
    (line,) = ChangeLogLine.objects.filter(kind="appeal_outcome")
    assert line.facts == {"subject": "hold", "outcome": "upheld"}


def test_a_hold_that_ended_before_the_ruling_costs_nothing_either(
    vendor: world.Vendor, version: TaskSetVersion, staff: Bench
) -> None:
    """The deadline passed while the appeal was examined: the result is out, and the use comes back all the same."""
    submission = held(vendor, version)
    row = filed(vendor, version, subject="hold", submission=submission)
    ruled(row, staff, text="The change is explained.", effects=["lift_hold"])
    with later(days=15):
        desk.let_go(submission, by=BY)
        tick()
    assert hold_of(submission).state == "released"  # type: ignore[union-attr]
    assert dict(RuledEffect.objects.values_list("kind", "result")) == {"lift_hold": "done", "line": "done"}
    slot = Slot.objects.get(submission=submission)
    assert (slot.state, slot.cause) == ("refunded", "refund_by_ruling")


def test_a_crash_between_two_effects_leaves_none_out_and_does_none_twice(
    appeal: Appeal, staff: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ruled(appeal, staff)

    def broken(*_: object) -> tuple[str, str]:
        raise RuntimeError("the process died")

    with monkeypatch.context() as patched:
        patched.setitem(effects.ACTS, Effect.LINE, broken)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError):
            services.carry_out(row.id, by=BY)
    assert Slot.objects.get(submission=appeal.submission).state == "refunded"
    row.refresh_from_db()
    assert row.state == "ruled"
    assert services.carry_out(row.id, by=BY)
    assert not services.carry_out(row.id, by=BY)
    assert ChangeLogLine.objects.filter(kind="appeal_outcome").count() == 1


def test_a_ruling_that_names_a_task_is_not_kept(appeal: Appeal, staff: Bench) -> None:
    row = examined(appeal, staff)
    with pytest.raises(Refused) as caught:
        services.draft(
            row.id, outcome="rejected", text="See finance-held-out-1.", effects=[], by=acting(staff.engineer)
        )
    refusal = caught.value.refusal
    assert refusal.code.value == "appeal_text_leaks"
    assert "finance-held-out-1" in refusal.errors[0].message
    assert not Draft.objects.exists()


@pytest.mark.case("U23")
@pytest.mark.acceptance("governance:8")
def test_from_filing_to_the_effects(appeal: Appeal, staff: Bench) -> None:
    counted(appeal.submission)
    row = examined(appeal, staff)
    assert row.due_at == min(workdays.after(row.state_since, 8), workdays.after(row.filed_at, 15))
    services.write_opinion(row.id, text="The store failed.", by=acting(staff.author))
    services.write_notes(row.id, text="Seen in the log.", by=acting(staff.engineer))
    services.draft(
        row.id, outcome="upheld", text=" We were at fault. ", effects=["refund"], by=acting(staff.engineer)
    )
    assert not Ruling.objects.exists()
    with pytest.raises(DutyRefused, match="decision_not_entitled"):
        services.approve(row.id, by=acting(staff.engineer))
    made = services.approve(row.id, by=acting(staff.arbiter))
    assert (made.outcome, made.text) == ("upheld", "We were at fault.")
    for _ in range(2):
        tick()
    done = Appeal.objects.get(pk=row.pk)
    assert (done.state, done.due_at) == ("carried_out", None)
    slot = Slot.objects.get(submission=appeal.submission)
    assert (slot.state, slot.cause, slot.reason) == ("refunded", "refund_by_ruling", "We were at fault.")
    assert dict(RuledEffect.objects.values_list("kind", "result")) == {"refund": "done", "line": "done"}
    kinds = set(Notice.objects.filter(person__memberships__isnull=False).values_list("kind", flat=True))
    assert {"appeal.admitted", "appeal.ruled", "appeal.carried_out", "slot.refunded"} <= kinds


def test_an_arbiter_who_drafted_does_not_approve(appeal: Appeal, staff: Bench) -> None:
    row = examined(appeal, staff)
    services.draft(row.id, outcome="rejected", text="No.", effects=[], by=acting(staff.arbiter))
    with pytest.raises(DutyRefused, match="duty_one_person"):
        services.approve(row.id, by=acting(staff.arbiter))
    with pytest.raises(DutyRefused, match="duty_one_person"):
        services.send_back(row.id, remark="No.", by=acting(staff.arbiter))
    other = opened().holder(Duty.ARBITER)
    assert services.approve(row.id, by=acting(other)).outcome == "rejected"


def test_a_draft_that_is_sent_back_is_followed_by_another(appeal: Appeal, staff: Bench) -> None:
    row = drafted(appeal, staff)
    services.send_back(row.id, remark="Say why.", by=acting(staff.arbiter))
    row.refresh_from_db()
    assert row.state == "assigned"
    services.draft(row.id, outcome="partly", text="In part.", effects=[], by=acting(staff.engineer))
    assert services.approve(row.id, by=acting(staff.arbiter)).outcome == "partly"
    assert list(Draft.objects.order_by("number").values_list("decision", flat=True)) == [
        "sent_back",
        "approved",
    ]


def test_the_inadmissible_is_answered_by_an_arbiter_with_a_reason(appeal: Appeal, staff: Bench) -> None:
    with pytest.raises(DutyRefused, match="decision_not_entitled"):
        services.dismiss(appeal.id, reason="No.", by=acting(staff.engineer))
    with pytest.raises(DutyRefused, match="duty_no_reason"):
        services.dismiss(appeal.id, reason=" ", by=acting(staff.arbiter))
    services.dismiss(appeal.id, reason="It names no fault.", by=acting(staff.arbiter))
    found = Ruling.objects.get(appeal=appeal)
    assert (found.outcome, found.text) == ("inadmissible", "It names no fault.")
    assert not RuledEffect.objects.exists()
    assert Notice.objects.filter(kind="appeal.inadmissible").count() == 1


def test_only_those_who_hold_the_duties_are_named(appeal: Appeal, staff: Bench) -> None:
    services.admit(appeal.id, by=acting(staff.arbiter))
    by = acting(staff.arbiter)
    for expert, engineer in ((staff.engineer, staff.engineer), (staff.author, staff.author)):
        with pytest.raises(DutyRefused, match="decision_not_entitled"):
            services.assign(appeal.id, expert=expert, engineer=engineer, by=by)
    services.assign(appeal.id, expert=staff.author, engineer=staff.engineer, by=by)
    other = opened().holder(Duty.EVALUATION_ENGINEER)
    for act in (
        lambda: services.write_notes(appeal.id, text="x", by=acting(other)),
        lambda: services.draft(appeal.id, outcome="rejected", text="x", effects=[], by=acting(other)),
    ):
        with pytest.raises(Refused, match="appeal_not_named"):
            act()


def test_a_ruling_orders_only_what_fits(appeal: Appeal, staff: Bench) -> None:
    row = examined(appeal, staff)
    for outcome, ordered in (("rejected", ["refund"]), ("upheld", ["lift_hold"]), ("inadmissible", [])):
        with pytest.raises(Refused, match="appeal_effect_not_possible"):
            services.draft(row.id, outcome=outcome, text="x", effects=ordered, by=acting(staff.engineer))


# --- conflicts ----------------------------------------------------------------------------------------


@pytest.mark.case("U23")
def test_former_members_have_no_say_and_the_refusal_is_on_record(
    vendor: world.Vendor, appeal: Appeal, staff: Bench
) -> None:
    """Duties and memberships exclude each other at one time; who left has a say in nobody's appeal."""
    former = world.person("former")
    accounts.add_member(vendor.organisation, former, Membership.Role.VIEWER, by=BY)
    accounts.add_member(
        accounts.create_organisation("Rival", owner=(rival := world.person("rival")), by=BY),
        (of_rival := world.person("of-rival")),
        Membership.Role.VIEWER,
        by=BY,
    )
    assert rival
    for person, code in ((former, "appeal_of_the_vendor"), (of_rival, "appeal_of_a_competitor")):
        Membership.objects.filter(user=person)
        with recorded() as made:
            for membership in Membership.objects.filter(user=person):
                made(membership)
                Membership.objects.filter(pk=membership.pk).delete()
            person.is_staff = True
            person.save()
            made(person)
        opened().give(person, Duty.ARBITER)
        with pytest.raises(Refused, match=code):
            services.admit(appeal.id, by=acting(person))
        with pytest.raises(Refused, match=code):
            services.dismiss(appeal.id, reason="No.", by=acting(person))
    appeal.refresh_from_db()
    assert appeal.state == "filed"
    services.admit(appeal.id, by=acting(staff.arbiter))


def test_whoever_had_part_in_a_return_has_none_in_the_appeal(
    vendor: world.Vendor, version: TaskSetVersion, appeal: Appeal, staff: Bench
) -> None:
    assert appeal.submission is not None
    proposal = returns.propose(appeal.submission.id, reason="x", by=acting(staff.engineer))
    returns.withdraw(proposal.id, by=acting(staff.engineer))
    with pytest.raises(Refused, match="appeal_took_part"):
        services.admit(appeal.id, by=acting(staff.engineer))
    services.admit(appeal.id, by=acting(staff.arbiter))
    with pytest.raises(Refused, match="appeal_took_part"):
        services.assign(appeal.id, expert=staff.author, engineer=staff.engineer, by=acting(staff.arbiter))


def test_whoever_decided_about_the_rotation_has_none_in_an_appeal_against_its_notice(
    vendor: world.Vendor, version: TaskSetVersion, staff: Bench
) -> None:
    entry = rows.queued(version)
    queue.suggest(entry.pk, verdict="retire", ground="outdated", reason="x", by=acting(staff.author))
    notice = filed(vendor, version, subject="rotation")
    services.admit(notice.id, by=acting(staff.arbiter))
    with pytest.raises(Refused, match="appeal_took_part"):
        services.assign(notice.id, expert=staff.author, engineer=staff.engineer, by=acting(staff.arbiter))
    other = filed(vendor, version, key="k2", subject="rule")
    services.admit(other.id, by=acting(staff.arbiter))
    services.assign(other.id, expert=staff.author, engineer=staff.engineer, by=acting(staff.arbiter))


def test_the_operators_own_appeal_is_for_an_arbiter_from_outside(
    vendor: world.Vendor, appeal: Appeal, staff: Bench
) -> None:
    with recorded(vendor.organisation):
        Organisation.objects.filter(pk=vendor.organisation.pk).update(is_operator=True)
    with pytest.raises(Refused, match="appeal_outside_needed"):
        services.admit(appeal.id, by=acting(staff.arbiter))
    outside = arranged.outsider()
    assert services.admit(appeal.id, by=acting(outside)).state == "admitted"
    with pytest.raises(DutyRefused, match="duty_not_administrator"):
        services.end_outside(outside, by=acting(staff.arbiter))
    call_command("outside_arbiter", outside.email, "--end", "--by", opened().first.email)
    assert not conflicts.is_from_outside(outside)


# --- time ---------------------------------------------------------------------------------------------


@pytest.mark.case("U23")
def test_what_is_late_goes_to_an_arbiter_from_outside(appeal: Appeal, staff: Bench) -> None:
    outside = arranged.outsider()
    with later(days=5):
        tick()
        tick()
        appeal.refresh_from_db()
        assert appeal.escalations == 1
        assert appeal.due_at is not None
        assert appeal.due_at > clock.now()
        with pytest.raises(Refused, match="appeal_outside_needed"):
            services.admit(appeal.id, by=acting(staff.arbiter))
        assert services.admit(appeal.id, by=acting(outside)).state == "admitted"
    told = Notice.objects.filter(kind="appeals.waiting", facts__state="filed").values_list(
        "person", flat=True
    )
    assert outside.pk in set(told)
    assert Notice.objects.filter(kind="appeal.late").count() == 1


def test_the_turn_is_told_once_to_each(appeal: Appeal, staff: Bench) -> None:
    for _ in range(3):
        tick()
    told = list(Notice.objects.filter(kind="appeals.waiting").values_list("person", flat=True))
    assert sorted(told) == sorted([staff.arbiter.pk, staff.engineer.pk])


# --- the database -------------------------------------------------------------------------------------


def test_the_database_refuses_what_the_table_does_not_list(appeal: Appeal, staff: Bench) -> None:
    for change in ({"state": "ruled"}, {"grounds": "else"}, {"due_at": None}):
        with pytest.raises(DatabaseError), recorded_as("appeal", appeal.id):
            Appeal.objects.filter(pk=appeal.pk).update(**change)
    with pytest.raises(IntegrityError, match="second person"), recorded_as("appeal", appeal.id):
        Ruling.objects.create(appeal=appeal, outcome="upheld", text="x", ruled_at=clock.now())
    row = ruled(appeal, staff)
    for table in (Draft.objects.all(), RuledEffect.objects.all(), Ruling.objects.all()):
        with pytest.raises(DatabaseError), recorded_as("appeal", appeal.id):
            table.filter(appeal=row).delete()
    with pytest.raises(DatabaseError), recorded_as("appeal", appeal.id):
        Draft.objects.filter(appeal=row).update(text="else")


def test_the_process_that_serves_vendors_reads_no_draft_and_no_person(
    connect_as: Connect, transactional_db: None
) -> None:
    web = connect_as("web")
    for query in (
        "SELECT * FROM appeals_draft",
        "SELECT * FROM appeals_handling",
        "SELECT * FROM appeals_outsidearbiter",
        "SELECT appeals_ever_member('x')",
        "INSERT INTO appeals_ruling VALUES (gen_random_uuid(), 'upheld', '', now())",
        "UPDATE appeals_appeal SET escalations = 9",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            web.execute(query)
    web.execute("SELECT * FROM appeals_appeal, appeals_ruling, appeals_ruledeffect")


def test_no_text_stands_in_an_event(connect_as: Connect, transactional_db: None) -> None:
    staff, vendor, version = arranged.bench(), world.vendor(), site.task_set()
    row = filed(vendor, version, submission=released(vendor, version))
    ruled(row, staff, text="A sentence of the ruling.")
    rows = connect_as("auditor").execute("SELECT convert_from(body, 'UTF8') FROM audit_event").fetchall()
    bodies = "".join(body for (body,) in rows)
    assert "appeal.ruled" in bodies
    assert "A sentence of the ruling." not in bodies
    assert "The store was down" not in bodies
