"""Every finished evaluation is analysed before its release: a prober is noticed, an honest vendor is not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from accounts.linking.models import LinkCase
from audit.events import system
from benchmark.models import TaskSetVersion
from config import clock
from governance.desk.rules import RULES
from governance.models import Release
from governance.tasks import tick
from governance.watch import evidence, queries, services, state
from governance.watch.exposure import exposure
from governance.watch.models import Alarm, AlarmEvidence, Behaviour, Examination, TaskMarks
from submissions.models import Submission
from tests.audit.test_log import Connect
from tests.governance.analysing import Answers, evaluated, ticked, version_of_three
from tests.submissions import world

pytestmark = pytest.mark.django_db
BY = system("detection")
ASKED = ((0, 5, 9), (2, 7, 11), (1, 4, 10), (3, 6, 8))
"""Tasks of each domain that the prober fails on purpose, submission by submission."""


@pytest.fixture
def version() -> TaskSetVersion:
    return version_of_three()


def line_of(version: TaskSetVersion, answers: Sequence[Answers]) -> list[Submission]:
    """A new vendor's submissions with one harness, each ticked before the next is sent."""
    vendor = world.vendor()
    harness = vendor.harness()
    return [ticked(evaluated(vendor, version, harness, one)) for one in answers]


def probing(name: str = "probe") -> list[Answers]:
    """The same harness all the time, but that it refuses twelve other tasks each time."""
    return [
        Answers(name),
        *(Answers(name, tag=f"{name}-{turn}", refused=asked) for turn, asked in enumerate(ASKED)),
    ]


def honest() -> list[Answers]:
    """A new build each time: every artefact is another one, and the same tasks succeed."""
    return [Answers(f"honest-{number}") for number in range(4)]


def test_a_prober_raises_an_alarm_and_an_honest_vendor_none(version: TaskSetVersion) -> None:
    asked = line_of(version, probing())
    meant_well = line_of(version, honest())
    found = queries.alarms(version)
    assert {alarm.organisation_id for alarm in found} == {asked[0].organisation_id}
    review = next(alarm for alarm in found if alarm.kind == "review" and alarm.channel == "contrast")
    assert review.submission_id == asked[2].id  # the first contrast alone is not enough
    assert review.statistic >= review.level == 3.05
    holds = [alarm for alarm in found if alarm.kind == "hold"]
    assert [alarm.submission_id for alarm in reversed(holds)] == [asked[3].id, asked[4].id]
    assert all(alarm.statistic >= alarm.level == 1000 for alarm in holds)
    assert {alarm.channel for alarm in holds} <= set(RULES)  # its vendor is told a rule
    assert Examination.objects.filter(sequence__isnull=False).count() == len(asked) + len(meant_well)
    released = set(Release.objects.values_list("submission_id", flat=True))
    assert {one.id for one in (*asked[:3], *meant_well)} <= released


def test_evidence_names_submissions_tasks_and_pictures(version: TaskSetVersion) -> None:
    asked = line_of(version, probing()[:3])
    alarm = next(alarm for alarm in queries.alarms_of(asked[2]) if alarm.channel == "contrast")
    shown = evidence.of_alarm(alarm)
    assert [finding.submission for finding in shown.findings] == [str(asked[1].id), str(asked[2].id)]
    slugs = {row.task_id: (row.domain, row.slug) for row in exposure(version)}
    first = {slugs[key] for key in slugs if str(key) in shown.findings[0].tasks}
    assert {slug.rpartition("-")[2] for _, slug in first} == {str(number) for number in ASKED[0]}
    assert sum(segment.length for segment in shown.segments) == 96
    assert [(strip.before, strip.after) for strip in shown.strips] == [
        (str(asked[0].id), str(asked[1].id)),
        (str(asked[1].id), str(asked[2].id)),
    ]
    assert [strip.cells.count("2") for strip in shown.strips] == [12, 24]
    assert [gain.submission for gain in shown.gains] == [str(asked[1].id), str(asked[2].id)]
    assert shown.gains[0].difference == -0.125
    assert len(shown.timeline) == 3


def test_an_analysis_happens_once(version: TaskSetVersion) -> None:
    (submission,) = line_of(version, honest()[:1])
    before = Behaviour.objects.get()
    assert services.analyse(submission, by=BY) == services.analyse(submission, by=BY) == []
    assert Behaviour.objects.get().digest == before.digest
    assert (Examination.objects.count(), TaskMarks.objects.count()) == (1, 1)
    assert len(bytes(before.columns)) <= 40 * before.tasks


def test_what_is_kept_in_memory_changes_nothing(version: TaskSetVersion) -> None:
    """The fifth submission is judged alike by a process that saw the others and by one that starts now."""
    submissions = line_of(version, probing()[:4])
    levels = Examination.objects.get(submission=submissions[0]).levels
    assert levels is not None
    fresh = state.current(version.id, levels)
    grown = state.State(fresh.analysis, fresh.taken, fresh.lineages, fresh.levels_id)
    state.keep(version.id, grown)
    kept = state.current(version.id, levels)
    assert kept.analysis is grown.analysis
    state.forget()
    again = state.current(version.id, levels)
    assert again.taken == kept.taken == tuple(one.id for one in submissions)
    assert again.analysis.alarms == kept.analysis.alarms != []
    line = str(submissions[0].harness_version.harness_id)
    assert again.analysis.lines[line].state == kept.analysis.lines[line].state > 900


def test_nothing_is_released_while_its_analysis_fails_but_not_for_ever(
    version: TaskSetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = world.vendor()
    waiting = evaluated(vendor, version, vendor.harness())

    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("governance.watch.looking.look", broken)
        for number in (1, 2):
            assert ticked(waiting).state == "grading"
            (row,) = queries.failing()
            assert (row.failures, row.cause, row.given_up_at) == (number, "ZeroDivisionError", None)
        with clock.shifted(timedelta(hours=25)):
            tick()
    waiting.refresh_from_db()
    assert waiting.state == "complete"
    assert queries.failing()[0].given_up_at is not None
    assert queries.not_analysed() == [waiting]
    assert services.analyse_lost(queries.not_analysed(), by=BY) == 1
    assert (queries.failing(), queries.not_analysed()) == ([], [])


@pytest.mark.case("E19")
def test_accounts_that_answer_alike_to_the_byte_become_one_case_with_both(version: TaskSetVersion) -> None:
    one, *_ = line_of(version, [Answers("shared")])
    other, *_ = line_of(version, [Answers("shared"), Answers("shared", tag="else", rebuilt=range(9))])
    third, *_ = line_of(version, [Answers("mine")])
    case = LinkCase.objects.get()
    assert {case.first_id, case.second_id} == {one.organisation.lineage_id, other.organisation.lineage_id}
    assert third.organisation.lineage_id not in (case.first_id, case.second_id)
    assert [kind for kind, _ in case.signals] == ["artefacts"]
    (alarm,) = Alarm.objects.filter(channel="link")
    assert (alarm.kind, alarm.submission_id) == ("signal", other.id)
    (link,) = evidence.of_alarm(alarm).links
    assert {link.one, link.other} == {str(case.first_id), str(case.second_id)}


def test_near_alike_is_enough(version: TaskSetVersion) -> None:
    """Eighty of ninety-six answers are alike."""
    line_of(version, [Answers("shared")])
    line_of(version, [Answers("shared", tag="mine", rebuilt=range(4))])
    assert [kind for kind, _ in LinkCase.objects.get().signals] == ["artefacts"]


@pytest.mark.django_db(transaction=True)
def test_who_may_read_what_detection_keeps(connect_as: Connect) -> None:
    tables = ("behaviour", "taskmarks", "exposureshare", "alarmevidence", "alarm", "examination", "gapfigure")
    may = {
        "web": (),
        "execute": (),
        "auditor": ("alarm", "examination"),
        "console": ("taskmarks", "exposureshare", "alarmevidence", "alarm", "examination", "gapfigure"),
        "sealed": tables,
    }
    for role, readable in may.items():
        for table in tables:
            reader = connect_as(role)
            if table in readable:
                reader.execute(f"SELECT * FROM watch_{table}")
            else:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    reader.execute(f"SELECT * FROM watch_{table}")


def test_evidence_is_kept_apart_from_alarms(version: TaskSetVersion) -> None:
    line_of(version, probing()[:3])
    assert Alarm.objects.count() == AlarmEvidence.objects.count() >= 1
    fields = {field.name for field in Alarm._meta.get_fields()}
    assert not {"task", "tasks", "content"} & fields
