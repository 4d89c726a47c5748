"""Defects of frozen tasks: from the report to the version that mends them, each state with a deadline and an owner."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as some

from accounts.duties.table import Duty
from benchmark.models import TaskRevision, TaskSetVersion
from config import clock
from governance.confirmation import dating
from governance.records import queries, services
from governance.records.problems import policies
from governance.records.problems.models import Problem
from governance.records.problems.queries import under_revision
from governance.records.reach import reach
from governance.tasks import confirm, keep_records
from scoring import grid
from submissions.problems import Refused
from tests.accounts.duties import acting, opened
from tests.factories import BY, frozen_version
from tests.pages import site

pytestmark = pytest.mark.django_db
NOW = datetime(2027, 1, 4, tzinfo=UTC)


def reported(version: TaskSetVersion, at: int = 0) -> Problem:
    task = TaskRevision.objects.filter(version=version, group="held_out").order_by("slug")[at]
    return services.report_problem(version, task, source="staff", evidence="gold counts twice", by=BY)


@given(
    steps=some.lists(
        some.tuples(some.sampled_from(sorted(Problem.State.values)), some.booleans()), max_size=12
    )
)
def test_no_history_ends_in_a_state_without_exit_deadline_and_owner(steps: list[tuple[str, bool]]) -> None:
    state = policies.INITIAL
    for to, is_late in steps:
        if to in policies.MOVES.get(state, ()):
            state = to
        if state in policies.ENDS:
            assert policies.due_at(state, NOW) is None
            assert not policies.actors(state, is_escalated=is_late)
            return
        deadline = policies.due_at(state, NOW)
        assert deadline is not None
        assert deadline > NOW
        assert policies.MOVES[state]
        assert policies.actors(state, is_escalated=False) == {policies.OWNERS[state]}
        assert len(policies.actors(state, is_escalated=True)) == 2


def test_a_problem_goes_its_way_to_the_version_that_mends_it() -> None:
    version, office = frozen_version("2026.9"), opened()
    maintainer, author = office.holder(Duty.SCORING_MAINTAINER), office.holder(Duty.TASK_AUTHOR)
    governor = office.holder(Duty.HELD_OUT_GOVERNOR)
    row = reported(version)
    assert under_revision(version) == 0
    services.move_problem(row.id, "confirmed", reason="so it is", by=acting(maintainer))
    assert under_revision(version) == 1
    services.move_problem(row.id, "mended", reason="gold is right now", by=acting(author))
    with pytest.raises(Refused) as refused:  # the same tasks: nothing is mended there
        services.move_problem(row.id, "settled", reason="frozen", fixed_in=version, by=acting(governor))
    assert refused.value.refusal.code == "problem_not_mended"
    later = frozen_version("2027.3", {"general": (1, 1)})
    services.move_problem(row.id, "settled", reason="frozen", fixed_in=later, by=acting(governor))
    assert under_revision(version) == 0
    with pytest.raises(Refused) as refused:
        services.move_problem(row.id, "confirmed", reason="again", by=acting(governor))
    assert refused.value.refusal.code == "problem_duty"


def test_who_has_no_turn_or_no_reason_is_refused() -> None:
    version, office = frozen_version("2026.9"), opened()
    row, governor = reported(version), office.holder(Duty.HELD_OUT_GOVERNOR)
    maintainer = office.holder(Duty.SCORING_MAINTAINER)
    for to, reason, by, code in (
        ("confirmed", "yes", governor, "problem_duty"),
        ("confirmed", " ", maintainer, "problem_facts"),
        ("mended", "yes", maintainer, "problem_move"),
    ):
        with pytest.raises(Refused) as refused:
            services.move_problem(row.id, to, reason=reason, by=acting(by))
        assert refused.value.refusal.code == code
    other = frozen_version("other").tasks.first()
    with pytest.raises(Refused) as refused:
        services.report_problem(version, other, source="staff", evidence="x", by=BY)
    assert refused.value.refusal.code == "problem_facts"
    with clock.shifted(policies.STAYS["reported"] + timedelta(minutes=1)):
        keep_records()
        services.move_problem(row.id, "confirmed", reason="overdue", by=acting(governor))
    row.refresh_from_db()
    assert (row.state, row.escalated_at) == ("confirmed", None)


def test_what_the_random_baseline_solves_is_reported_once() -> None:
    version = frozen_version("2026.9")
    easy, fair, few = TaskRevision.objects.filter(version=version, group="held_out").order_by("slug")[:3]
    scores = {easy.id: [1.0, 0.0, 1.0], fair.id: [0.5, 0.0, 0.5], few.id: [1.0, 1.0]}
    (row,) = services.report_anomalies(version, scores, by=BY)
    assert (row.task, row.source) == (easy, "baseline")
    assert services.report_anomalies(version, scores, by=BY) == []


def test_defects_are_counted_on_dates_of_errata_only(client: Client) -> None:
    version = site.task_set()
    office = opened()
    maintainer = office.holder(Duty.SCORING_MAINTAINER)
    dating.plan("2027-01-errata", kind="errata", planned_for=clock.now() + timedelta(hours=1), by=BY)
    for at in range(2):
        services.move_problem(reported(version, at).id, "confirmed", reason="yes", by=acting(maintainer))
    assert queries.defects_of(version) == 0
    page = f"/en/versions/{version.label}/"
    assert "No held-out task is known to be under revision" in client.get(page).content.decode()
    with clock.shifted(timedelta(hours=2)):
        confirm()
    assert queries.defects_of(version) == 2
    text = client.get(page).content.decode()
    assert "2 held-out tasks are under revision" in text
    body = json.loads(client.get("/en/errata/2027-01-errata/errata.json").content)
    assert body["under_revision"] == {version.label: 2}
    assert [line["kind"] for line in body["lines"]] == ["defect_known"]
    slugs = TaskRevision.objects.filter(version=version, group="held_out").values_list("slug", flat=True)
    for address in ("/en/change-log/", "/zh-hans/change-log/lines.json", "/en/errata/2027-01-errata/", page):
        shown = client.get(address)
        assert shown.status_code == 200
        assert not any(slug in shown.content.decode() for slug in slugs)
    assert client.get("/en/errata/no-such/").status_code == 404
    assert client.get("/en/versions/no-such/").status_code == 404


VALUES = some.integers(0, 100)


@given(right=some.lists(some.booleans(), min_size=2, max_size=60), out=some.integers(0, 8), data=some.data())
def test_no_tasks_left_out_move_a_value_further_than_said(right: list[bool], out: int, data: Any) -> None:
    out = min(out, len(right) - 1)
    dropped = data.draw(some.sets(some.integers(0, len(right) - 1), min_size=out, max_size=out))
    kept = [found for at, found in enumerate(right) if at not in dropped]
    shown, other = (grid.half_up(Decimal(100 * sum(rows)) / len(rows)) for rows in (right, kept))
    assert abs(shown - other) <= reach(shown, under_revision=out, tasks=len(right))


@given(value=VALUES, tasks=some.integers(1, 500))
def test_nothing_under_revision_moves_nothing(value: int, tasks: int) -> None:
    assert reach(value, under_revision=0, tasks=tasks) == 0


def test_the_queue_in_the_console() -> None:
    version, office = site.task_set(), opened()
    maintainer = office.holder(Duty.SCORING_MAINTAINER)
    browser = site.signed_in(maintainer)
    task = TaskRevision.objects.filter(version=version, group="held_out").order_by("slug")[0]
    sent = {"task_set": str(version.pk), "task": task.slug, "part": "gold", "evidence": "the sum is wrong"}
    answer = browser.post("/en/console/problems/new/", sent)
    assert answer.status_code == 302, answer.content.decode()
    page = answer["Location"]
    text = browser.get(page).content.decode()
    assert task.slug in text
    assert "the sum is wrong" in text
    assert browser.post(page, {"to": "confirmed", "reason": "seen"}).status_code == 302
    listed = browser.get("/en/console/problems/").content.decode()
    assert "confirmed" in listed
    assert task.slug not in listed
    assert browser.post(page, {"to": "mended", "reason": "x"}).status_code == 409
    administrator = site.signed_in(office.first)
    for address in ("/en/console/problems/", page):
        assert administrator.get(address).status_code == 404


def test_retired_tasks_and_versions_are_listed(client: Client) -> None:
    version = site.task_set()
    assert version.label in client.get("/en/versions/").content.decode()
    assert "No task is retired yet" in client.get("/en/retirement-list/").content.decode()
    facts: dict[str, str | int] = {"task": "gone-task-1", "reason": "distorted"}
    services.add_line("retirement", version, facts=facts, by=BY)
    (row,) = json.loads(client.get("/en/retirement-list/tasks.json").content)["tasks"]
    assert (row["task"], row["reason"], row["task_set"]) == ("gone-task-1", "distorted", version.label)
    assert "已失真" in client.get("/zh-hans/retirement-list/").content.decode()
