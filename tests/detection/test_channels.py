"""Each channel on a case made by hand: what it is for, and the honest cause that looks most like it."""

from __future__ import annotations

import numpy as np
import pytest

from governance.detection.behaviour import IDLE, NO_FAILURE, Rows
from governance.detection.channels import cheap, dips, echo, focus, jumps, subset, toggle
from governance.detection.channels import contrast as small
from governance.detection.contrasts import Contrast, contrast
from governance.detection.statistics import poisson_tail
from tests.detection.making import changed, rows, table

SIZE = 400
BANK = table(SIZE)
BASE = rows(SIZE)
RANDOM = np.random.default_rng(5)
SOLVED = [int(n) for n in RANDOM.permutation(np.arange(0, SIZE, 2))]
FAILED = [int(n) for n in RANDOM.permutation(np.arange(1, SIZE, 2))]
CATEGORY = [n for n, task in enumerate(BANK.tasks) if task.domain == "finance" and task.category == "2"]


def against_base(after: Rows) -> Contrast:
    return contrast(BASE, after, BANK)


def refused(places: list[int], base: Rows = BASE) -> Rows:
    """A cheap refusal of these tasks."""
    after = changed(base, places, successes=0, partial=0)
    after["artefact"][places] += 500_000
    after["log_tokens"][places] -= 1.3
    return after


def test_a_cheap_refusal_of_chosen_tasks() -> None:
    found = small.judge(against_base(refused(SOLVED[:6])))
    # Six where 0.2 are expected, and the least of three tails counts three times.
    assert found.p == 3 * poisson_tail(6, 0.2)
    assert found.count == 6
    assert sorted(np.flatnonzero(found.tasks)) == sorted(SOLVED[:6])
    assert found.excess == 3.0


def test_an_answer_altered_after_the_same_work() -> None:
    after = changed(BASE, SOLVED[:5], successes=0)
    after["artefact"][SOLVED[:5]] += 500_000
    found = small.judge(against_base(after))
    assert found.p == 3 * poisson_tail(5, 0.05 + 0.002 * 5)


def test_the_same_refusal_of_a_whole_category_is_explained() -> None:
    found = against_base(refused(CATEGORY))
    assert found.gate.sum() == len(CATEGORY) == 20
    assert found.explanation.explained
    assert small.judge(found).p == 1.0


def test_a_repair_that_helps_some_of_a_category_is_explained_by_all_it_touched() -> None:
    after = changed(BASE, CATEGORY)
    after["artefact"][CATEGORY] += 500_000
    after["log_tokens"][CATEGORY[:5]] -= 1.3
    after["successes"][CATEGORY[:5]] = 3
    found = against_base(after)
    assert set(np.flatnonzero(found.accounted)) == set(CATEGORY)
    assert cheap.judge(found).p == 1.0


def test_churn_of_a_build_is_expected() -> None:
    after = changed(BASE, SOLVED[:40])
    after["artefact"][SOLVED[:40]] += 500_000
    after["log_tokens"][SOLVED[:40]] += RANDOM.normal(0, 0.07, 40)
    after["successes"][SOLVED[:2]] = 0
    assert small.judge(against_base(after)).excess == 0.0


def test_a_crash_is_no_refusal() -> None:
    after = refused(SOLVED[:6])
    after["activity"][SOLVED[:6]] = 1
    assert small.judge(against_base(after)).p == 1.0


def test_a_common_drift_is_taken_off() -> None:
    after = BASE.copy()
    after["log_tokens"] += 2.0
    found = against_base(after)
    assert np.abs(found.step).max() < 1e-6
    assert not (found.cheap | found.dear).any()


def test_a_change_of_everything_is_measured_by_its_own_noise() -> None:
    after = BASE.copy()
    after["artefact"] += 500_000
    after["log_tokens"] += RANDOM.normal(0, 0.45, SIZE)
    found = against_base(after)
    assert found.density == 1.0
    assert 1.8 < found.limit[0] < 2.8
    assert small.judge(found).excess == 0.0


def routed(seed: int, other: Rows) -> Rows:
    """Each task as in BASE or as in the other, by chance."""
    pick = np.random.default_rng([11, seed]).random(SIZE) < 0.5
    return np.where(pick, BASE, other)


def test_a_router_mixes_what_was_there_before() -> None:
    other = rows(SIZE, successes=[3 * (n % 3 == 0) for n in range(SIZE)], seed=3)
    history = np.stack([routed(seed, other) for seed in range(3)])
    found = toggle.judge(contrast(history[1], history[2], BANK), history)
    assert found.count > 50
    assert found.excess == 3.0


def test_a_rollback_returns_to_one_earlier_submission() -> None:
    other = rows(SIZE, successes=[3 * (n % 3 == 0) for n in range(SIZE)], seed=3)
    history = np.stack([BASE, other, BASE])
    assert toggle.judge(contrast(history[1], history[2], BANK), history).p == 1.0
    assert toggle.judge(contrast(BASE, other, BANK), history[:2]).p == 1.0


def answered_only(places: list[int]) -> Rows:
    """A template for everything else."""
    made = BASE.copy()
    rest = np.setdiff1d(np.arange(SIZE), places)
    made["artefact"][rest], made["log_tokens"][rest], made["activity"][rest] = 7, 3.5, IDLE
    made["successes"][rest] = 0
    return made


def test_a_template_for_all_but_chosen_tasks_needs_no_second_submission() -> None:
    found = subset.judge(answered_only(SOLVED[:20]), BANK)
    assert found.excess == 3.0
    assert sorted(np.flatnonzero(found.tasks)) == sorted(SOLVED[:20])


def test_who_can_only_do_one_operation_answers_that_operation() -> None:
    queries = [n for n, task in enumerate(BANK.tasks) if task.operation == "query"]
    assert subset.judge(answered_only(queries), BANK).p == 1.0
    finance = [n for n, task in enumerate(BANK.tasks) if task.domain != "finance"]
    assert subset.judge(answered_only(finance), BANK).p == 1.0
    assert subset.judge(BASE, BANK).p == 1.0


def test_dips_between_two_solved_submissions() -> None:
    dipped = changed(BASE, SOLVED[:9], successes=0, partial=60)
    dipped["artefact"][SOLVED[:9]] += 500_000
    history = np.stack([BASE, BASE, BASE, dipped, BASE])
    last = (contrast(BASE, dipped, BANK), contrast(dipped, BASE, BANK))
    found = dips.judge(history, last, BANK)
    # 12 of 12 solved: ½·3/2·5/2 over 13·14·15, for each of the 200 solved tasks; and a twentieth for each of 9 changed.
    assert found.p == pytest.approx(poisson_tail(9, 200 * 1.875 / 2730 + 0.05 * 9), rel=1e-12)
    single = history.copy()
    single["runs"] = 1
    assert dips.judge(single, last, BANK).p == 1.0


def test_dips_are_not_judged_between_dense_edits() -> None:
    other = rows(SIZE, seed=4)
    history = np.stack([BASE, other, BASE])
    last = (contrast(BASE, other, BANK), contrast(other, BASE, BANK))
    assert dips.judge(history, last, BANK).p == 1.0


def dense(seed: int, fails: list[int], *, credit: int | None, price: float) -> Rows:
    """Everything redrawn; chosen solved tasks fail with this credit (drawn where None) at this price."""
    rng = np.random.default_rng([13, seed])
    made = BASE.copy()
    made["artefact"] += 10_000_000 * (seed + 1)
    made["log_tokens"] += rng.normal(0, 0.05, SIZE)
    failed = made["successes"] == 0
    made["log_tokens"][failed] += 0.1
    made["partial"][failed] = rng.integers(0, 180, int(failed.sum()))
    lost = SOLVED[-5 * seed :] if seed else []  # five more in each submission, for good
    for place, cost, worth in [(n, 0.1, None) for n in lost] + [(n, price, credit) for n in fails]:
        made["successes"][place] = 0
        made["log_tokens"][place] += cost
        made["partial"][place] = rng.integers(0, 180) if worth is None else worth
    return made


@pytest.mark.parametrize(
    ("credit", "price", "noticed"), [(10, 0.1, True), (None, 0.0, True), (None, 0.1, False)]
)
def test_spoilt_answers_are_worth_less_or_cost_less_than_failures(
    credit: int | None, price: float, noticed: bool
) -> None:
    history = [dense(0, [], credit=None, price=0.1)]
    spoilt = []
    for number in range(1, 9):
        chosen = SOLVED[15 * number : 15 * number + 15] if number % 2 else []
        history.append(dense(number, chosen, credit=credit, price=price))
        if number >= 2:
            spoilt.append(focus.dips(np.stack(history), BANK))
    assert (focus.tail(spoilt) < 1e-4) == noticed


def test_few_dips_say_nothing() -> None:
    assert focus.tail([]) == 1.0
    few = changed(BASE, SOLVED[:3], successes=0, partial=0)
    assert focus.tail([focus.dips(np.stack([BASE, few, BASE]), BANK)]) == 1.0


def rewritten(seed: int, base: Rows = BASE) -> Rows:
    """An edit that touches everything and changes no outcome."""
    made = base.copy()
    made["artefact"] += 10_000_000 * (seed + 1)
    return made


def worth(places: list[int], credit: int, base: Rows) -> Rows:
    return changed(base, places, partial=credit)


def test_wrong_answers_that_were_spoilt_once_come_back_exactly() -> None:
    history = np.stack([rewritten(0), worth(FAILED[:2], 0, rewritten(1)), rewritten(2)])
    found = echo.echoes(history, BANK)
    assert sorted(np.flatnonzero(found.tasks)) == sorted(FAILED[:2])
    assert (found.steady, found.changed) == (200, 2)
    # Three such submissions: six echoes where 0.1 + 0.0002·600 + 0.0007·6 are expected.
    assert echo.tail([found] * 3) == poisson_tail(6, 0.1 + 0.0002 * 600 + 0.0007 * 6)
    assert echo.tail([]) == 1.0


def test_what_changes_for_good_or_comes_back_as_a_whole_is_no_echo() -> None:
    lasting = worth(FAILED[:6], 0, rewritten(1))
    stayed = echo.echoes(np.stack([rewritten(0), lasting, rewritten(2, lasting)]), BANK)
    assert (int(stayed.tasks.sum()), stayed.steady) == (0, 194)
    rollback = echo.echoes(np.stack([rewritten(0), worth(FAILED[:40], 0, rewritten(1)), rewritten(2)]), BANK)
    assert (int(rollback.tasks.sum()), rollback.steady, rollback.changed) == (0, 0, 0)
    same = echo.echoes(np.stack([BASE, worth(FAILED[:2], 0, BASE), BASE]), BANK)
    assert same.steady == 0  # nothing was rewritten: other channels look at that


def test_answers_that_were_brought_along() -> None:
    after = BASE.copy()
    after["artefact"] += 500_000
    after["log_tokens"] += RANDOM.normal(0, 0.05, SIZE)
    after["log_tokens"][FAILED[:15]] -= 2.0
    after["successes"][FAILED[:15]] = 3
    found = cheap.judge(against_base(after))
    assert found.p == poisson_tail(15, 0.5)
    assert sorted(np.flatnonzero(found.tasks)) == sorted(FAILED[:15])


def test_hard_tasks_that_are_suddenly_always_solved() -> None:
    difficulty = np.where(np.arange(SIZE) % 8 == 1, -4.0, 1.0)
    hard = list(range(1, SIZE, 8))

    def history(places: list[int]) -> Rows:
        solved = changed(BASE, places, successes=3, partial=NO_FAILURE)
        return np.stack([BASE, BASE, solved, solved])

    assert jumps.judge(history(hard[:15]), difficulty, BANK).excess == 3.0
    easy = [n for n in FAILED if n not in hard]
    assert jumps.judge(history(easy[:60]), difficulty, BANK).excess == 0.0
    assert jumps.judge(history(hard[:15])[:2], difficulty, BANK).p == 1.0
