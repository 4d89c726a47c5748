"""One site on which every page of governance has something to show: vendor pages, staff pages, public records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from accounts.duties.table import Duty
from accounts.models import User
from benchmark.models import Domain, TaskSetVersion
from config import clock
from evaluation.models import TaskResult
from governance.appeals import services as appeals
from governance.appeals.models import Appeal
from governance.appeals.services import rechecking
from governance.confirmation import dating
from governance.desk import cases
from governance.desk import services as desk
from governance.desk.casework import Act
from governance.desk.models import Case, CaseQuestion, HoldDecision
from governance.records import services as records
from governance.rotation import services as rotation
from governance.tasks import confirm
from scoring.run import RunScore
from submissions.models import Submission
from submissions.problems import Code
from tests.accounts.duties import acting, opened
from tests.factories import BY, frozen_version
from tests.governance.analysing import Answers, evaluated, ticked, version_of_three
from tests.governance.appeals import arranged
from tests.governance.desk.arranged import alarm
from tests.governance.records.arranged import indexed
from tests.governance.rotation import rows
from tests.pages import site
from tests.submissions import world

DOMAINS = [domain.value for domain in Domain]
WHY = "Sixteen tasks changed each time, and nothing that is known of them explains which."
EVIDENCE = {
    "gate_bits": {"every": 3.4, "gate": 1.8, "organisations": 2, "drift": 0.4},
    "content": {"every": 0.4, "gate": 0.0, "organisations": 3, "drift": 0.1},
    "drift": {"every": 0.2, "gate": 0.0, "organisations": 0, "drift": 1.3},
}


@dataclass
class Site:
    """Who looks, and at which addresses below the language."""

    vendor: world.Vendor
    governors: list[User]
    staff: arranged.Bench
    second: User
    version: TaskSetVersion
    complete: Submission
    pages: list[tuple[User | None, list[str]]] = field(default_factory=list)


def filled() -> Site:
    """Everything, with the addresses of each person's pages."""
    office = opened()
    governors = [office.holder(Duty.HELD_OUT_GOVERNOR) for _ in range(2)]
    vendor, version = world.vendor(), version_of_three()
    indexed(version)
    harness = vendor.harness("planner")
    for build, public in (("one", 1), ("two", 2)):
        complete = ticked(evaluated(vendor, version, harness, Answers(build, public=public)))
    found = Site(
        vendor, governors, arranged.bench(), office.holder(Duty.SCORING_MAINTAINER), version, complete
    )
    for add in (_desk, _appeals, _rotation, _records):
        add(found)
    _vendor_and_public(found)
    return found


def _desk(on: Site) -> None:
    """A held submission with a case, a question that waits and a proposal about its hold."""
    states = (*site.TO_RUNNING, ("grading", Code.ALL_RUNS_EXECUTED))
    held = site.moved(on.vendor.submit(on.version, on.vendor.harness("held")), *states)
    world.end_run(held.held_out_run)
    raised = alarm(held, **_evidence(on.version, held))
    hold = desk.place_hold(held, rule=raised.channel, alarms=[raised.id], by=BY)
    decision = desk.propose(held, "extend", reason=WHY, by=acting(on.governors[0]))
    cases.group_alarms(by=BY)
    case = Case.objects.get(alarms__alarm=raised)
    cases.decide(case.id, Act.TAKE, reason=WHY, by=acting(on.governors[0]))
    cases.ask(case.id, held, "model", reason=WHY, by=acting(on.governors[0]))
    assert HoldDecision.objects.get() == decision
    on.pages.append(
        (
            on.governors[1],
            [
                *("console/signals/", f"console/signals/{case.id}/"),
                *(f"console/signals/{case.id}/{act}/" for act in ("watch", "hold", "ask", "link", "rotate")),
                f"console/holds/{hold.submission_id}/",
                f"console/holds/{hold.submission_id}/void/",
                f"console/hold-decisions/{decision.id}/approve/",
                *("console/gaps/", "console/information/"),
            ],
        )
    )
    on.pages.append(
        (on.vendor.user, [f"v/submissions/{held.id}/", f"v/questions/{CaseQuestion.objects.get().id}/"])
    )


def _evidence(version: TaskSetVersion, held: Submission) -> dict[str, Any]:
    """As the detectors write it down: every fourth task asked about, one of three answered otherwise."""
    tasks = list(version.tasks.filter(group="held_out").order_by("domain", "slug"))
    which, now = str(held.id), clock.now()
    asked = [str(task.id) for task in tasks[::12]]
    cells = "".join("2" if at % 12 == 0 else "1" if at % 7 == 0 else "0" for at in range(len(tasks)))
    return {
        "findings": [{"submission": which, "p": 0.001, "explanation": 0.1, "tasks": asked}],
        "segments": [[domain, "voucher", "query", len(tasks) // len(DOMAINS)] for domain in sorted(DOMAINS)],
        "strips": [{"before": which, "after": which, "cells": cells, "explanation": 0.12, "by": ""}],
        "gains": [[which, 0.2, 0.01], [which, -0.1, 0.02]],
        "timeline": [[which, (now - timedelta(hours=hours)).isoformat()] for hours in (400, 200, 1)],
        "links": [],
    }


def _appeals(on: Site) -> None:
    """One ruled, one to be admitted, one whose draft waits, and a re-check with its sheets."""
    arranged.ruled(
        arranged.filed(on.vendor, on.version, "ruled", subject="fault", submission=on.complete),
        on.staff,
    )
    other = world.vendor()
    waiting = arranged.filed(other, on.version, "waits", subject="rule")
    drafted = arranged.drafted(arranged.filed(other, on.version, "draft", subject="quota"), on.staff)
    score = arranged.filed(
        on.vendor,
        on.version,
        "score",
        subject="score",
        submission=on.complete,
        domain="finance",
        commitment=arranged.COMMITMENT,
    )
    arranged.examined(score, on.staff, on.second)
    rechecking.commit(score.id, by=BY)
    word_due = f"v/appeals/{score.id}/"
    on.pages.append((on.vendor.user, ["v/appeals/", "v/appeals/new/", word_due]))
    ruled = Appeal.objects.exclude(pk__in=(waiting.id, drafted.id, score.id)).get()
    form = f"v/appeals/new/?subject=score&submission={on.complete.id}"
    on.pages.append((on.vendor.user, [f"v/appeals/{ruled.id}/", form]))
    appeals.reveal(score.id, word=arranged.WORD, by=on.vendor.actor)
    rechecking.draw(score.id, by=BY, preparing=_preparing)
    staffs = [f"console/appeals/{row.id}/" for row in (ruled, waiting, drafted, score)]
    on.pages.append((on.staff.arbiter, ["console/appeals/", *staffs]))
    on.pages.append((on.staff.engineer, [f"console/appeals/{waiting.id}/", f"console/appeals/{score.id}/"]))
    sheet = _sheet_of(on.staff.author)
    on.pages.append(
        (
            on.staff.author,
            [
                *("console/opinions/", f"console/opinions/{score.id}/"),
                *("console/rechecks/", f"console/rechecks/{sheet}/"),
            ],
        )
    )


@contextmanager
def _preparing() -> Iterator[Any]:
    """In place of packs and artefacts, which these submissions have not."""
    shown = {
        "statement": site.STATEMENT,
        "rules": '[{"id": "R1", "check": "file 核对结果.csv exists and has the columns 单号, 数量, 差异"}]',
        "reply": "done",
        "files": [],
    }
    yield lambda attempt: dict(shown)


def _sheet_of(person: User) -> Any:
    from governance.appeals import queries

    return queries.sheets_of(person.pseudonym)[0].id


def _rotation(on: Site) -> None:
    """Entries in several states, a plan that was drawn, and a reserve, on a version of their own."""
    version = frozen_version("9.0", dict.fromkeys(DOMAINS, (2, 40)))
    rows.reserve("r1", dict.fromkeys(DOMAINS, 12))
    tasks = rows.held_out(version)
    entries = [
        rotation.propose(
            version, task, cause=cause, reason="", score=2.5 - at, evidence=EVIDENCE[cause], by=BY
        )
        for at, (task, cause) in enumerate(zip(tasks, EVIDENCE, strict=False))
    ]
    one, two = (acting(person) for person in on.governors)
    rotation.suggest(entries[1].pk, verdict="rotate", reason=WHY, by=one)
    rotation.suggest(entries[2].pk, verdict="false_alarm", reason=WHY, by=one)
    rotation.confirm(entries[2].pk, by=two)
    rows.profiled(version)
    plan = rows.drawn(version)
    staff = [f"console/rotation/{row.id}/" for row in entries]
    on.pages.append(
        (
            on.governors[1],
            [
                "console/rotation/",
                *staff,
                f"console/rotation/plans/{plan.id}/",
                "console/rotation/stock/",
            ],
        )
    )


def _records(on: Site) -> None:
    """Defects known and dated, a retired task, a corrected result, a version that took another's place."""
    tasks = rows.held_out(on.version, "finance")
    problems = [
        records.report_problem(on.version, task, source="staff", evidence="gold counts twice", by=BY)
        for task in tasks[:3]
    ]
    for row in problems[:2]:
        records.move_problem(row.id, "confirmed", reason="so it is", by=acting(on.second))
    facts: dict[str, str | int] = {"task": "fin-voucher-0007", "reason": "distorted"}
    records.add_line("retirement", on.version, facts=facts, by=BY)
    dating.plan("2027-01-errata", kind="errata", planned_for=clock.now() + timedelta(minutes=1), by=BY)
    with clock.shifted(timedelta(minutes=2)):
        confirm()
    one, two = (acting(person) for person in on.governors)
    records.regrade_result(on.complete, cause="defect", by=one, approved_by=two, reference="a-1")
    records.carry_out_regradings(grade=_all_right, grader="g2", by=BY)
    rows.succeeded(on.version, frozen_version("2027.3"))
    on.pages.append(
        (
            on.second,
            [
                *("console/problems/", "console/problems/new/"),
                *(f"console/problems/{row.id}/" for row in problems[1:]),
            ],
        )
    )


def _all_right(claim: Any) -> RunScore:
    """Every run of finance is right now; the others stay."""
    first = TaskResult.objects.get(attempt_id=claim.attempt_id)
    return RunScore(
        type(first.score)(1) if claim.domain == "finance" else first.score,
        success=claim.domain == "finance" or first.success,
        failure_type=None,
    )


def _vendor_and_public(on: Site) -> None:
    on.pages.append(
        (
            on.vendor.user,
            ["v/", "v/information/", f"v/submissions/{on.complete.id}/result/", "v/submissions/"],
        )
    )
    public = ["rules/held-out/", "versions/", f"versions/{on.version.label}/", "change-log/"]
    on.pages.append((None, [*public, "retirement-list/", "errata/2027-01-errata/"]))
