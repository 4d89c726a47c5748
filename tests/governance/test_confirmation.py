"""Confirmation runs: who is granted one, how it moves, and that nothing of it is seen before a dated release."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, transaction

from accounts import services as accounts
from accounts.models import Membership
from accounts.notices.models import Notice
from benchmark.models import TaskSetVersion
from config import clock
from evaluation.models import Episode, EvaluationRun
from governance.confirmation import policies
from governance.confirmation.models import ConfirmationResult, ConfirmationRun
from governance.models import LeakCharge
from submissions.confidentiality.models import PackageDeletion
from submissions.models import AdmissionStop, Slot, Submission
from submissions.services import close_task_set, set_publication_consent, stop_admission
from tests.audit.test_log import Connect
from tests.factories import BY, recorded_as
from tests.governance import confirming
from tests.governance.confirming import CONSENT, advanced, asked, confirmed, row_of, run_through, started
from tests.governance.test_silences import answer, limit, opened
from tests.submissions import world

pytestmark = pytest.mark.django_db

LATER = timedelta(minutes=20)


@pytest.fixture
def version() -> TaskSetVersion:
    return opened()


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def complete(vendor: world.Vendor, version: TaskSetVersion) -> Submission:
    return answer(vendor, version)


# --- what is granted ----------------------------------------------------------------------------------


def test_consent_and_request_are_one_act(vendor: world.Vendor, complete: Submission) -> None:
    assert not complete.publication_consent
    place = f"submissions/{complete.id}/confirmation"
    assert vendor.api.get(place).status == 404
    refused = vendor.api.post(place, {"publication_consent": False})
    assert (refused.status, refused.code) == (422, "confirmation_consent")
    assert not ConfirmationRun.objects.exists()
    given = asked(vendor, complete)
    assert (given.status, given.body["state"], given.body["published_in"]) == (202, "requested", None)
    complete.refresh_from_db()
    assert complete.publication_consent
    assert vendor.api.get(place).body == given.body


def test_the_same_key_asks_once(vendor: world.Vendor, complete: Submission) -> None:
    first, again = (asked(vendor, complete, key="k") for _ in range(2))
    assert (first.status, again.status, first.body["id"]) == (202, 202, again.body["id"])
    other = asked(vendor, complete)
    assert (other.status, other.code) == (409, "confirmation_used")
    assert vendor.api.post(f"submissions/{complete.id}/confirmation", CONSENT, key="").code == (
        "idempotency_key_required"
    )


def test_strangers_and_viewers_get_none(complete: Submission, vendor: world.Vendor) -> None:
    assert asked(world.vendor(), complete).status == 404
    viewer = world.person("viewer")
    accounts.add_member(vendor.organisation, viewer, Membership.Role.VIEWER, by=BY)
    _, secret = accounts.issue_token(viewer, vendor.organisation, name="r", scopes=["read"], by=BY)
    place = f"submissions/{complete.id}/confirmation"
    assert world.Api(secret).post(place, CONSENT).status == 403
    accounts.suspend_organisation(vendor.organisation, by=BY)
    assert asked(vendor, complete).code == "organisation_suspended"
    assert not ConfirmationRun.objects.exists()


def test_only_a_complete_submission_is_confirmed(vendor: world.Vendor, version: TaskSetVersion) -> None:
    early = vendor.submit(version, vendor.harness())
    refused = asked(vendor, early)
    assert (refused.status, refused.code) == (409, "confirmation_too_early")


def test_a_closed_version_and_a_stop_of_governance_grant_none(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    stop_admission(
        version,
        cause=AdmissionStop.Cause.GOVERNANCE,
        lineage=vendor.organisation.lineage,
        by=BY,
    )
    assert asked(vendor, complete).code == "confirmation_not_offered"
    other = world.vendor()
    theirs = answer(other, version)
    close_task_set(version, by=BY)
    assert asked(other, theirs).code == "confirmation_not_offered"


def test_a_deleted_package_is_not_run_again(vendor: world.Vendor, complete: Submission) -> None:
    with recorded_as("submission", complete.id):
        PackageDeletion.objects.create(submission=complete, at=clock.now())
    refused = asked(vendor, complete)
    assert (refused.status, refused.code) == (410, "confirmation_package_gone")


def test_what_the_budget_does_not_cover_is_not_started(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    limit(version, 26_633)
    with clock.shifted(timedelta(seconds=1)):
        assert asked(vendor, complete).code == "confirmation_budget"


def test_two_requests_at_once_get_one(transactional_db: None) -> None:
    vendor, version = world.vendor(), opened()
    complete = answer(vendor, version)
    barrier = threading.Barrier(4)

    def ask(_: int) -> str:
        try:
            barrier.wait(30)
            found = asked(vendor, complete)
            return found.code or found.body["state"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(4))) == ["confirmation_used"] * 3 + ["requested"]
    assert ConfirmationRun.objects.count() == 1


# --- how it moves -------------------------------------------------------------------------------------


def test_from_the_request_to_confirmed(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    row = started(vendor, complete)
    run = row.run
    first = complete.held_out_run
    assert run is not None
    assert first is not None
    assert (run.kind, run.package_id, run.runs_per_task) == (first.kind, first.package_id, 1)
    assert bytes(run.secret.secret) != bytes(first.secret.secret)
    assert Slot.objects.get(submission=complete).state == "consumed"
    assert Slot.objects.count() == 1
    run_through(row)
    row = advanced(complete)
    assert row.state == "grading"
    assert row.run is not None
    assert row.run.ended_at is not None
    with clock.frozen(row.run.ended_at):
        assert advanced(complete).state == "grading", "the tick has not come"
    assert advanced(complete, 3, later=LATER).state == "confirmed"
    result = ConfirmationResult.objects.get()
    assert {name: result.values[name]["value"] for name in confirming.SHOWN} == confirming.SHOWN
    assert result.values["enterprise"]["value"] == 58
    assert result.runs == 96
    charge = LeakCharge.objects.get(kind="confirmation")
    assert charge.millibits > 26_633
    assert Notice.objects.filter(kind="confirmation.confirmed").count() == 1


def test_nothing_is_seen_of_it_before_a_dated_release(
    vendor: world.Vendor, complete: Submission, connect_as: Connect
) -> None:
    first = vendor.api.get(f"submissions/{complete.id}/result").body
    confirmed(vendor, complete)
    assert vendor.api.get(f"submissions/{complete.id}/result").body == first
    assert set(vendor.api.get(f"submissions/{complete.id}/confirmation").body) == {
        *("id", "submission", "state", "since", "cause", "requested_at", "published_in", "may_withdraw")
    }


@pytest.mark.django_db(transaction=True)
def test_those_who_serve_cannot_read_the_sealed_result(connect_as: Connect) -> None:
    for role in ("web", "console", "auditor", "execute"):
        with connect_as(role) as served, pytest.raises(psycopg.errors.InsufficientPrivilege):
            served.execute("SELECT values, sides FROM governance_confirmationresult")


def test_a_run_waits_while_its_line_has_something_under_way(
    vendor: world.Vendor, version: TaskSetVersion, complete: Submission
) -> None:
    asked(vendor, complete)
    other = vendor.submit(version, complete.harness_version.harness)
    assert advanced(complete, 3).state == "queued"
    vendor.api.post(f"submissions/{other.id}/cancel")
    assert advanced(complete).state == "running"


def test_lost_runs_are_repeated_and_then_it_ends_incomplete_with_nothing_charged(
    vendor: world.Vendor, complete: Submission
) -> None:
    row = started(vendor, complete)
    run_through(row, missing=2)
    lost = Episode.objects.filter(run=row.run, result=None)
    lost.update(state=Episode.State.UNAVAILABLE)
    row = advanced(complete)
    assert (row.state, row.rerun_count, row.run.state) == ("running", 1, "executing")  # type: ignore[union-attr]
    confirming.ended(row, missing=2)
    row = advanced(complete, later=timedelta(days=15))
    assert (row.state, row.cause) == ("incomplete", "runs_lost")
    assert not ConfirmationResult.objects.exists()
    assert not LeakCharge.objects.filter(kind="confirmation").exists()
    assert asked(vendor, complete).status == 202
    assert row_of(complete).number == 2
    run_through(advanced(complete, 2))
    row = advanced(complete, 2, later=LATER)
    assert (row.number, row.state) == (2, "confirmed")
    assert asked(vendor, complete).code == "confirmation_used"


def test_a_withdrawal_ends_it_and_its_run_and_takes_the_consent_back(
    vendor: world.Vendor, complete: Submission
) -> None:
    row = started(vendor, complete)
    place = f"submissions/{complete.id}/confirmation/withdraw"
    first, again = vendor.api.post(place), vendor.api.post(place)
    assert (first.status, first.body["state"], again.status) == (200, "withdrawn", 200)
    complete.refresh_from_db()
    assert not complete.publication_consent
    confirming.swept()
    assert EvaluationRun.objects.get(pk=row.run_id).state == "cancelled"
    assert asked(vendor, complete).code == "confirmation_used"


def test_consent_that_is_taken_back_elsewhere_withdraws_it(
    vendor: world.Vendor, complete: Submission
) -> None:
    confirmed(vendor, complete)
    set_publication_consent(complete.id, consent="withdrawn", by=vendor.actor)
    row = advanced(complete)
    assert (row.state, row.cause) == ("withdrawn", "consent_withdrawn")


def test_a_version_that_was_gated_is_confirmed_under_its_own_name(
    vendor: world.Vendor, version: TaskSetVersion
) -> None:
    answer(vendor, version)
    gated = answer(vendor, version, 2, changed={domain: range(3) for domain in confirming.RIGHT})
    body = vendor.api.get(f"submissions/{gated.id}/result").body
    assert {row["reason"] for row in body["domains"].values()} == {"near_duplicate"}
    confirmed(vendor, gated)
    # What is now known of the gated version closes the gate for the next one that hardly differs from it.
    third = answer(vendor, version, 3, changed={domain: range(4) for domain in confirming.RIGHT})
    body = vendor.api.get(f"submissions/{third.id}/result").body
    assert {row["value"] for row in body["domains"].values()} == {None}


# --- what the database holds --------------------------------------------------------------------------


@pytest.fixture
def rows(vendor: world.Vendor, complete: Submission) -> ConfirmationRun:
    asked(vendor, complete)
    return row_of(complete)


@pytest.mark.parametrize("to", ["running", "grading", "confirmed"])
def test_the_database_refuses_a_move_that_is_not_in_the_table(rows: ConfirmationRun, to: str) -> None:
    with (
        pytest.raises(Exception, match="no move from requested"),
        transaction.atomic(),
        recorded_as("confirmation", rows.id),
    ):
        ConfirmationRun.objects.filter(pk=rows.pk).update(state=to)


def test_the_database_keeps_one_a_line_and_version(rows: ConfirmationRun) -> None:
    with pytest.raises(Exception, match="confirmation_once_a_line_and_version"), transaction.atomic():
        ConfirmationRun.objects.create(
            submission=rows.submission,
            harness=rows.harness,
            task_set=rows.task_set,
            number=2,
            state_since=clock.now(),
            requested_at=clock.now(),
        )


def test_what_was_asked_for_never_changes(transactional_db: None, connect_as: Connect) -> None:
    """For the owner of the tables too."""
    vendor, version = world.vendor(), opened()
    asked(vendor, answer(vendor, version))
    for statement, why in (
        ("UPDATE governance_confirmationrun SET requested_at = now()", "never changes"),
        ("UPDATE governance_confirmationrun SET number = 2", "never changes"),
        ("DELETE FROM governance_confirmationrun", "stay on record"),
    ):
        with connect_as("owner") as owner, pytest.raises(psycopg.errors.IntegrityError, match=why):
            owner.execute(statement)


def test_the_tables_of_code_database_and_verifier_are_one() -> None:
    import importlib

    from client.audit.rules.confirmations import MOVES

    migration = importlib.import_module("governance.migrations.0006_confirmation_runs")
    assert policies.MOVES == MOVES == migration.MOVES
    assert {*policies.MOVES, *policies.ENDS} == set(ConfirmationRun.State.values)


def test_withdrawing_what_has_ended_is_refused(vendor: world.Vendor, complete: Submission) -> None:
    row = started(vendor, complete)
    place = f"submissions/{complete.id}/confirmation/withdraw"
    confirming.ended(row, missing=96)
    assert advanced(complete, later=timedelta(days=90)).state == "incomplete"
    refused = vendor.api.post(place)
    assert (refused.status, refused.code) == (409, "confirmation_over")
