"""A released result graded again: a separate result beside the first, no slot, the same owner, no row on any board."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, transaction

from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from benchmark.models import TaskRevision, TaskSetVersion
from benchmark.queries import composition, content_digest
from evaluation.claims import GradingClaim
from evaluation.grading import ArtefactsLost
from evaluation.models import TaskResult
from governance.correcting.models import Correction, RegradedRun, Regrading
from governance.models import LeakCharge, Release
from governance.queries import released_result
from governance.records import queries, services
from scoring.run import RunScore
from submissions.models import Slot, Submission
from submissions.problems import Refused
from tests.accounts.duties import acting, opened
from tests.factories import BY, draft_version, saved
from tests.governance.committed import facts
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db
Connect = Callable[[str], psycopg.Connection[Any]]


class Again:
    """Grades from memory: every run of finance is right now, the others as before; some artefacts are lost."""

    def __init__(self, *, lost: int = 0, right: str = "finance") -> None:
        self.asked: list[GradingClaim] = []
        self._lost, self._right = lost, right

    def __call__(self, claim: GradingClaim) -> RunScore:
        self.asked.append(claim)
        if len(self.asked) <= self._lost:
            raise ArtefactsLost
        first = TaskResult.objects.get(attempt_id=claim.attempt_id)
        right = claim.domain == self._right
        return RunScore(Decimal(1) if right else first.score, success=right, failure_type=None)


def governors() -> tuple[Any, Any]:
    office = opened()
    first, second = (office.holder(Duty.HELD_OUT_GOVERNOR) for _ in range(2))
    return acting(first), acting(second)


def ordered(submission: Submission, cause: str = "ruling") -> Regrading:
    one, other = governors()
    return services.regrade_result(submission, cause=cause, by=one, approved_by=other, reference="a-1")


def done(again: Again) -> int:
    return services.carry_out_regradings(grade=again, grader="g2", by=BY)


@pytest.mark.case("E11")
def test_a_regrade_is_a_separate_result_linked_to_the_first(
    vendor: world.Vendor, complete: Submission
) -> None:
    first = vendor.api.get(f"submissions/{complete.id}/result").body
    board = vendor.api.get("submissions").body
    slots = list(Slot.objects.values_list("id", "state", "lineage_id", "account_id"))
    results = set(TaskResult.objects.values_list("id", "score"))
    row = ordered(complete)
    assert done(again := Again()) == 1
    assert len(again.asked) == len(results)
    row.refresh_from_db()
    assert (row.submission, row.run, row.correction.submission) == (
        complete,
        complete.held_out_run,
        complete,
    )
    assert set(TaskResult.objects.values_list("id", "score")) == results
    assert RegradedRun.objects.filter(regrading=row).count() == len(results)
    assert list(Slot.objects.values_list("id", "state", "lineage_id", "account_id")) == slots
    assert vendor.api.get("submissions").body == board
    assert Submission.objects.get().organisation == vendor.organisation
    assert Release.objects.count() == 1
    now = vendor.api.get(f"submissions/{complete.id}/result").body
    assert now["domains"]["finance"]["value"] == 100
    assert now["domains"]["general"] == first["domains"]["general"]
    assert now["corrected"]["former"]["finance"]["value"] == first["domains"]["finance"]["value"]
    assert now["corrected"]["cause"] == "ruling"
    assert done(Again()) == 0


def test_the_page_shows_both_values_and_why(vendor: world.Vendor, complete: Submission) -> None:
    before = released_result(complete)
    assert before is not None
    ordered(complete, "defect")
    done(Again())
    browser = site.signed_in(vendor.user)
    text = browser.get(site.address("leaderboard:result", complete.id)).content.decode()
    assert "Corrected on" in text
    assert "because of a defect that was settled" in text
    assert f"Finance {before.row('finance').value} ±" in text
    (line,) = queries.change_log(complete.task_set)
    assert (line.kind, line.facts) == ("regrade", {"cause": "defect"})
    assert str(vendor.organisation.name) not in str(queries.face(line))


def test_values_that_stay_are_no_correction_and_are_charged_all_the_same(complete: Submission) -> None:
    ordered(complete)
    done(Again(right=""))
    assert not Correction.objects.exists()
    assert queries.change_log(complete.task_set) == []
    (charge,) = LeakCharge.objects.filter(kind="correction")
    assert charge.submission == complete


def test_lost_artefacts_keep_their_score(complete: Submission) -> None:
    total = TaskResult.objects.count()
    ordered(complete)
    done(Again(lost=total))
    assert not Correction.objects.exists()
    kept = RegradedRun.objects.order_by("attempt").values_list("attempt", "score")
    assert list(kept) == list(TaskResult.objects.order_by("attempt").values_list("attempt", "score"))


def later_version(slug: str) -> TaskSetVersion:
    """A frozen version in which this task has other rules."""
    version = draft_version("c2", {"finance": (2, 2)})
    rows = TaskRevision.objects.filter(version=version, slug=slug)
    assert rows.update(digest="f" * 64, grading_offset=4711) == 1
    version.digest, version.composition = content_digest(version), composition(version)
    version.state = TaskSetVersion.State.FROZEN
    return saved(version)


def test_a_settled_defect_is_graded_by_the_rules_that_mend_it(complete: Submission) -> None:
    office = opened()
    tasks = TaskRevision.objects.filter(version=complete.task_set, group="held_out", domain="finance")
    task = tasks.order_by("slug")[0]
    row = services.report_problem(complete.task_set, task, source="appeal", evidence="x", by=BY)
    fixed = later_version(task.slug)
    for to, duty, version in (
        ("confirmed", Duty.SCORING_MAINTAINER, None),
        ("mended", Duty.TASK_AUTHOR, None),
        ("settled", Duty.HELD_OUT_GOVERNOR, fixed),
    ):
        by = acting(office.holder(duty))
        services.move_problem(row.id, to, reason="yes", fixed_in=version, by=by)
    fix = TaskRevision.objects.get(version=fixed, slug=task.slug)
    ordered(complete, "defect")
    done(again := Again())
    used = {claim.pack_id for claim in again.asked if claim.task_id == task.id}
    assert used == {fix.grading_pack_id}
    assert {claim.offset for claim in again.asked if claim.task_id == task.id} == {4711}
    assert fix.grading_pack_id not in {claim.pack_id for claim in again.asked if claim.task_id != task.id}


def test_who_may_order_it_and_when(vendor: world.Vendor, complete: Submission) -> None:
    one, other = governors()
    with pytest.raises(DutyRefused):
        services.regrade_result(complete, cause="ruling", by=one, approved_by=one)
    with pytest.raises(Refused) as refused:
        services.regrade_result(complete, cause="mood", by=one, approved_by=other)
    assert refused.value.refusal.code == "regrade_not_due"
    services.regrade_result(complete, cause="ruling", by=one, approved_by=other)
    with pytest.raises(Refused) as refused:
        services.regrade_result(complete, cause="ruling", by=other, approved_by=one)
    assert refused.value.refusal.code == "regrade_under_way"


def test_an_unreleased_submission_is_not_graded_again(running: Submission) -> None:
    one, other = governors()
    with pytest.raises(Refused) as refused:
        services.regrade_result(running, cause="ruling", by=one, approved_by=other)
    assert refused.value.refusal.code == "regrade_not_due"


@pytest.mark.django_db(transaction=True)
def test_it_is_in_the_log_and_nothing_per_run_is_for_vendors(
    complete: Submission, connect_as: Connect
) -> None:
    row = ordered(complete)
    done(Again())
    said = facts(connect_as, "result.corrected", complete.id)
    assert said["values"]["finance"]["value"] == 100
    assert facts(connect_as, "regrading.ordered", row.id)["submission"] == str(complete.id)
    assert facts(connect_as, "regrading.ended", row.id)["runs_root"] == said["runs_root"]
    for role, statement in (
        ("web", "SELECT differences FROM governance_regrading"),
        ("web", "SELECT score FROM governance_regradedrun"),
        ("console", "SELECT score FROM governance_regradedrun"),
        ("auditor", "SELECT differences FROM governance_regrading"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute(statement)
    may = "SELECT has_table_privilege('governance_regrading', 'INSERT')"
    rights = {
        role: connect_as(role).execute(may).fetchone() for role in ("sealed", "console", "web", "auditor")
    }
    assert rights == {"sealed": (True,), "console": (True,), "web": (False,), "auditor": (False,)}
    with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
        Regrading.objects.update(runs=1)
