"""The incremental analysis: one alarm for each account and channel, links that join but do not blame, equal replays."""

from __future__ import annotations

import numpy as np
import pytest

from governance.detection import report
from governance.detection.analysis import Alarm, Analysis
from governance.detection.behaviour import IDLE, Rows, Runs, summarise
from governance.detection.levels import CHANNELS, Levels, read
from governance.detection.streams import Recorded
from governance.detection.synthetic.worlds import world
from governance.detection.tasks import TaskTable
from tests.detection.making import changed, recorded, rows, table

SIZE, PUBLIC = 400, 40
BANK = table(SIZE, public=PUBLIC)
WHOLE = SIZE + PUBLIC


def refused(base: Rows, places: list[int]) -> Rows:
    after = changed(base, places, successes=0, partial=0)
    after["artefact"][places] += 500_000
    after["log_tokens"][places] -= 1.3
    return after


def probing(account: str, organisation: str = "", *, seed: int = 0) -> list[Recorded]:
    """Other six tasks fail in each of five submissions."""
    base = rows(WHOLE, seed=seed)
    solved = [int(n) for n in np.random.default_rng(seed).permutation(np.arange(0, SIZE, 2))]
    made = [base] + [refused(base, solved[6 * turn : 6 * turn + 6]) for turn in range(4)]
    return [
        recorded(one, number, account=account, organisation=organisation) for number, one in enumerate(made)
    ]


def quiet(account: str, organisation: str = "", *, seed: int = 1) -> list[Recorded]:
    base = rows(WHOLE, seed=seed)
    return [recorded(base, number, account=account, organisation=organisation) for number in range(4)]


def analysed(submissions: list[Recorded]) -> tuple[Analysis, list[Alarm]]:
    analysis = Analysis(BANK, read())
    raised = []
    for one in sorted(submissions, key=lambda one: (one.submitted_at, one.id)):
        raised += analysis.observe(one)
    return analysis, raised


def test_probing_is_noticed_once_and_not_on_one_contrast() -> None:
    _, raised = analysed([*probing("p"), *quiet("q")])
    first = raised[0]
    assert (first.account, first.channel) == ("p", "contrast")
    assert first.submission == "p-2"  # the first contrast alone is not enough
    assert len({(alarm.account, alarm.channel) for alarm in raised}) == len(raised)
    assert {alarm.account for alarm in raised} == {"p"}
    assert first.statistic >= first.level == read().levels["contrast"]


def test_evidence_says_which_submissions_and_which_tasks() -> None:
    analysis, _ = analysed(probing("p"))
    evidence = analysis.lines["p"].evidence["contrast"]
    assert [one.submission for one in evidence] == ["p-1", "p-2", "p-3", "p-4"]
    assert [one.finding.count for one in evidence] == [6, 12, 12, 12]
    found = report.make(analysis)
    assert found["flagged_submissions"] == ["p-1", "p-2", "p-3", "p-4"]
    solved = np.random.default_rng(0).permutation(np.arange(0, SIZE, 2))
    first = found["alarms"][0]
    assert (first["account"], first["channel"], first["level"]) == ("p", "contrast", 3.05)
    assert first["findings"][0]["submission"] == "p-1"
    assert len(first["findings"][0]["tasks"]) == 6
    asked = {f"T{int(number):04d}" for number in solved[:24]}
    assert {row["task"] for row in found["rotation"][:24]} == asked


def test_a_long_history_of_surprises_is_a_hold() -> None:
    _, raised = analysed(probing("p"))
    assert not raised[0].hold  # 30·15 by then
    analysis, _ = analysed(probing("p"))
    assert analysis.lines["p"].highest >= 1000


def test_colleagues_count_together_and_the_quiet_one_is_not_flagged() -> None:
    analysis, raised = analysed([*probing("p", "firm"), *quiet("c", "firm")])
    assert analysis.groups["firm"].alarms
    assert {alarm.account for alarm in raised} == {"p"}


def split(account: str, places: slice) -> list[Recorded]:
    """One organisation of a ring: a template of the ring for all but a few tasks of its own."""
    base = rows(WHOLE, seed=9)
    made = base.copy()
    rest = np.setdiff1d(np.arange(WHOLE), np.random.default_rng(4).permutation(SIZE)[places])
    made["artefact"][rest], made["log_tokens"][rest], made["activity"][rest] = 7, 3.5, IDLE
    return [recorded(made, 0, account=account)]


def test_a_ring_is_joined_by_its_template() -> None:
    analysis, raised = analysed([*split("a", slice(0, 20)), *split("b", slice(20, 40)), *quiet("q")])
    assert [(link.one, link.other, link.ground) for link in analysis.linker.links.values()] == [
        ("of-a", "of-b", "template")
    ]
    assert analysis.groups["of-a"] is analysis.groups["of-b"]
    assert {alarm.account for alarm in raised} == {"a", "b"}


def test_joining_is_not_blaming() -> None:
    """The same public scaffold in two organisations: one of them probes, the other is left alone."""
    scaffold = quiet("s", seed=0)  # the prober's own base: hundreds of equal artefacts
    analysis, raised = analysed([*probing("p"), *scaffold])
    assert [link.ground for link in analysis.linker.links.values()] == ["artefacts"]
    assert analysis.groups["of-p"] is analysis.groups["of-s"]
    assert {alarm.account for alarm in raised} == {"p"}


def test_the_same_package_and_prices_that_move_together_are_links() -> None:
    same = [recorded(rows(WHOLE, seed=5), 0, account="x"), recorded(rows(WHOLE, seed=6), 0, account="y")]
    same = [Recorded(**{**vars(one), "digest": "sha256:public"}) for one in same]
    analysis, _ = analysed(same)
    assert [link.ground for link in analysis.linker.links.values()] == ["digest"]

    others = [recorded(rows(WHOLE, seed=20 + n), 0, account=f"o{n}") for n in range(8)]
    twin = rows(WHOLE, seed=20)
    twin["artefact"] += 5_000_000_000
    twin["log_tokens"] += np.random.default_rng(2).normal(0.3, 0.1, WHOLE)
    analysis, _ = analysed([*others, recorded(twin, 1, account="twin")])
    assert [(link.one, link.other, link.ground) for link in analysis.linker.links.values()] == [
        ("of-o0", "of-twin", "tokens")
    ]


def test_levels_without_end_raise_nothing() -> None:
    analysis = Analysis(BANK, Levels(dict.fromkeys(CHANNELS, float("inf"))))
    assert [alarm for one in probing("p") for alarm in analysis.observe(one)] == []
    assert analysis.peaks["of-p", "contrast"] > 9


def test_a_replay_says_the_same_again() -> None:
    made = world(5, honest=12, attackers=7, scale=0.3)

    def once() -> dict:
        analysis = Analysis(made.table, read())
        for one in made.submissions:
            analysis.observe(one)
        return report.make(analysis)

    assert once() == once()
    found = once()
    assert set(found["first_alarm"]) == set(found["flagged_accounts"])
    bits = [row["exposure_bits"] for row in found["rotation"]]
    assert bits == sorted(bits, reverse=True)
    assert len(bits) == int(made.table.held_out.sum())


def test_a_leap_is_a_look_and_no_alarm() -> None:
    better = rows(WHOLE, successes=[3 * (n % 4 != 1) for n in range(WHOLE)], seed=3)
    analysis, raised = analysed([recorded(rows(WHOLE), 0), recorded(better, 1)])
    assert set(report.make(analysis)["gains"]) == {"a-1"}
    assert raised == []


def test_fitting_to_public_tasks_is_a_signal_and_no_alarm() -> None:
    submissions = [one for n in range(9) for one in quiet(f"o{n}", seed=30 + n)]
    fitted = rows(WHOLE, seed=60)
    fitted["successes"][SIZE:] = 3
    submissions.append(recorded(fitted, 0, account="fit"))
    analysis, raised = analysed(submissions)
    assert set(report.gap_alerts(analysis)) == {"fit"}
    assert raised == []


def anything(rng: np.random.Generator, bank: TaskTable) -> Rows:
    """Rows of runs as odd as can be: no valid run, no tokens, absurd tokens, artefacts by chance equal, any number."""
    shape = (len(bank), int(rng.integers(1, 6)))
    runs = Runs(
        artefact=rng.integers(0, rng.choice([2, 10, 10**6]), shape).astype(np.uint64),
        tokens=rng.choice([0, 1, 30, 20_000, 2.7e12], shape) * float(rng.random() < 0.6),
        duration=rng.random(shape) * 1000,
        success=(rng.random(shape) < 0.5).astype(np.uint8),
        score=rng.random(shape) * 1.2,
        ok=rng.random(shape) < rng.choice([0, 0.5, 0.9, 1]),
    )
    parts = (
        Runs(
            runs.artefact[mask],
            runs.tokens[mask],
            runs.duration[mask],
            runs.success[mask],
            runs.score[mask],
            runs.ok[mask],
        )
        for mask in (bank.held_out, bank.public)
    )
    return np.concatenate([summarise(part) for part in parts])


@pytest.mark.filterwarnings("error")
def test_whatever_can_be_recorded_can_be_analysed() -> None:
    rng = np.random.default_rng(6)
    for _ in range(30):
        bank = table(int(rng.choice([8, 40, 200])), public=int(rng.choice([0, 1, 8])))
        analysis = Analysis(bank, read())
        for number in range(14):
            made = anything(rng, bank)
            analysis.observe(recorded(made, number, account="abc"[number % 3], organisation="xy"[number % 2]))
        found = report.make(analysis)
        assert all(np.isfinite(row["exposure_bits"]) for row in found["rotation"])
