"""What answers could tell about which tasks: written down answer by answer, and the same when worked out again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit.events import system
from audit.replay import Difference, Replay
from benchmark.models import TaskSetVersion
from config import clock
from governance.detection.answers import told
from governance.models import DomainAggregate
from governance.services import release_result
from governance.watch import exposing, queries, services, state
from governance.watch.exposure import exposure
from governance.watch.models import Alarm, Examination, ExposureShare
from governance.watch.replay import LEDGERS
from submissions.models import Submission
from tests.audit.test_log import Connect
from tests.factories import BY as TEST
from tests.governance import confirming
from tests.governance.analysing import Answers, evaluated, ticked, version_of_three
from tests.governance.test_watch import line_of, probing
from tests.submissions import world

pytestmark = pytest.mark.django_db
BY = system("detection")
BITS = 6.66


@pytest.fixture
def version() -> TaskSetVersion:
    return version_of_three()


def command(*arguments: object) -> str:
    out = StringIO()
    call_command("governance", *map(str, arguments), stdout=out)
    return out.getvalue()


def bits(version: TaskSetVersion) -> dict[tuple[str, int], tuple[float, float]]:
    """By domain and number of a task: bits of all answers and of gate-like ones."""
    return {
        (row.domain, int(row.slug.rpartition("-")[2])): (round(row.bits, 9), round(row.gate_bits, 9))
        for row in exposure(version)
    }


@pytest.mark.acceptance("governance:2")
def test_a_first_answer_concerns_whole_domains_and_a_silent_one_nothing(version: TaskSetVersion) -> None:
    """24 tasks of a domain share 6.66 bits; three changed tasks are too few for a value and tell nothing."""
    submissions = line_of(version, probing()[:2])
    assert set(bits(version).values()) == {(round(BITS / 24, 9), 0.0)}
    silent = DomainAggregate.objects.filter(release__submission=submissions[1])
    assert {row.reason for row in silent} == {"near_duplicate"}
    assert ExposureShare.objects.count() == 1


@pytest.mark.acceptance("governance:2")
def test_what_follows_a_silence_is_compared_with_the_last_answer(version: TaskSetVersion) -> None:
    """Twelve tasks of finance change in silence and twelve others with a value: it is about all twenty-four."""
    answers = [
        Answers(),
        Answers(tag="more", rebuilt=range(12), within=("finance",)),
        Answers(tag="most", rebuilt=range(24), within=("finance",)),
    ]
    *_, silent, last = line_of(version, answers)
    assert silent.release.domains.get(status="not_reportable").domain == "finance"
    assert last.release.domains.filter(status="reported").count() == 4
    found = bits(version)
    # What did not change was told once, with the first answer; finance twice.
    assert {found["finance", at] for at in range(24)} == {(round(2 * BITS / 24, 9), 0.0)}
    assert {found["general", at] for at in range(24)} == {(round(BITS / 24, 9), 0.0)}


def test_worked_out_again_it_is_what_was_written_down(
    version: TaskSetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answer by answer at each tick, with a silent one between, against all at once from stored behaviour."""
    line_of(
        version,
        [
            *probing()[:2],
            Answers("second"),
            Answers("second", tag="x", rebuilt=range(22), within=("finance",)),
        ],
    )
    assert ExposureShare.objects.count() == 3
    assert command("exposure", version.label) == "as written down\n"
    assert exposing.expose() == 0
    monkeypatch.setattr(exposing, "told", lambda new, earlier, table: told(new, [], table))
    with pytest.raises(CommandError, match="differs from what was written down for 1 runs"):
        command("exposure", version.label)


def test_a_confirmation_run_counts_and_is_not_analysed(version: TaskSetVersion) -> None:
    vendor = world.vendor()
    submission = ticked(evaluated(vendor, version, vendor.harness()))
    row = confirming.started(vendor, submission)
    assert row.run is not None
    assert (Examination.objects.count(), ExposureShare.objects.count()) == (1, 1)
    confirming.run_through(row)
    confirming.advanced(submission, 2, later=timedelta(minutes=20))
    exposing.expose()
    assert ExposureShare.objects.filter(run=row.run).exists()
    assert Examination.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_at_once_give_what_one_after_the_other_gives() -> None:
    version = version_of_three()
    shared, other = world.vendor(), world.vendor()
    pair = [evaluated(one, version, one.harness(), Answers("shared")) for one in (shared, other)]
    gate = threading.Barrier(4)

    def analyse(submission: Submission) -> list[Alarm]:
        gate.wait(timeout=30)
        try:
            return services.analyse(submission, by=BY)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(analyse, [*pair, *pair]))
    assert set(Examination.objects.values_list("sequence", flat=True)) == {1, 2}
    assert (found[0], found[1]) == (found[2], found[3])
    (alarm,) = Alarm.objects.all()
    last = Examination.objects.get(sequence=2).submission_id
    assert (alarm.channel, alarm.submission_id) == ("link", last)
    assert [one.id for one in state.history(version.pk)] == [
        str(row.submission_id) for row in Examination.objects.order_by("sequence")
    ]


def test_released_without_analysis_is_found_and_analysed_by_command(version: TaskSetVersion) -> None:
    vendor = world.vendor()
    submission = evaluated(vendor, version, vendor.harness())
    with clock.shifted(timedelta(seconds=6)):
        assert release_result(submission, by=TEST)
    assert [one.pk for one in queries.not_analysed()] == [submission.pk]
    assert command("analyse", "--task-set", version.label) == "1 analysed\n"
    assert command("analyse") == "0 analysed\n"
    with pytest.raises(CommandError, match="there is no version c9"):
        command("analyse", "--task-set", "c9")


def test_a_drill_on_real_history_changes_nothing(version: TaskSetVersion) -> None:
    line_of(version, probing()[:3])
    before = (Alarm.objects.count(), Examination.objects.count())
    found = json.loads(command("drill", "--task-set", version.label, "--times", 1))
    assert found["runs"] == 3
    assert found["power"].keys() >= {"single_task", "block"}
    assert found["history"] >= 1  # the prober of the history itself
    assert (Alarm.objects.count(), Examination.objects.count()) == before


@pytest.mark.django_db(transaction=True)
def test_events_tell_what_the_rows_say(connect_as: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    version, vendor = version_of_three(), world.vendor()
    line_of(version, probing()[:3])
    waiting = evaluated(vendor, version, vendor.harness(), Answers("broken"))
    with monkeypatch.context() as patch:
        patch.setattr("governance.watch.looking.look", lambda *_: 1 / 0)
        ticked(waiting)
    auditor = connect_as("auditor")
    assert not list(unexplained(auditor))
    ticked(waiting)
    assert Examination.objects.get(submission=waiting).failures == 0
    assert not list(unexplained(auditor))
    changed = unexplained(auditor, lambda query: query.replace("to_char(statistic", "to_char(statistic + 1"))
    assert {found.table for found in changed} == {"watch_alarm"}


def unexplained(
    auditor: psycopg.Connection[Any], how: Callable[[str], str] = lambda query: query
) -> Iterator[Difference]:
    """Rows of detection that the events do not tell of."""
    replayed = Replay(LEDGERS)
    for (body,) in auditor.execute("SELECT body FROM audit_event ORDER BY id"):
        assert not replayed.see(json.loads(bytes(body)), 0)
    yield from replayed.differences(lambda query: auditor.execute(how(query)).fetchall())
