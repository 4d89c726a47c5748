"""What an answer could tell about which tasks, by hand; and that the gate's contrast and the detectors' agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.detection.answers import Answered, told
from governance.detection.contrasts import contrast
from governance.detection.exposure import RELEASE_BITS, shares
from governance.disclosure.changes import TaskBehaviour, changes
from tests.detection.making import DOMAINS, changed, rows, table

pytestmark = pytest.mark.acceptance("governance:2")
SIZE = 400
BANK = table(SIZE)
"""A hundred tasks a domain: task n is of domain n mod 4."""
ALL = frozenset(DOMAINS)
FIRST = Answered(rows(SIZE), ALL)
GENERAL = range(0, SIZE, 4)


def rebuilt(places: list[int], base: Answered = FIRST, domains: frozenset[str] = ALL) -> Answered:
    after = changed(base.rows, places)
    after["artefact"][places] += 10_000_000
    return Answered(after, domains)


def test_a_first_answer_is_about_every_task_of_its_domains() -> None:
    found = told(Answered(FIRST.rows, frozenset({"general"})), [], BANK)
    assert np.flatnonzero(found.changed).tolist() == list(GENERAL)
    assert not found.asked.any()
    assert shares(found.changed, BANK.domains)[0] == RELEASE_BITS / 100


def test_a_sparse_change_is_about_the_changed_tasks() -> None:
    """30 general tasks share 6.66 bits, five of finance give a bit each, and nothing else gives any."""
    general, finance = list(GENERAL[:30]), [1, 5, 9, 13, 17]
    found = told(rebuilt([*general, *finance]), [FIRST], BANK)
    bits = shares(found.changed, BANK.domains)
    assert {float(bits[at]) for at in general} == {RELEASE_BITS / 30}
    assert {float(bits[at]) for at in finance} == {1.0}
    assert np.count_nonzero(bits) == 35


def test_a_silent_domain_tells_nothing_and_is_compared_further_back() -> None:
    """Tasks 0 to 9 of general change in silence, 10 to 29 with a value: the value is about all thirty."""
    silent = rebuilt(list(GENERAL[:10]), domains=ALL - {"general"})
    assert not told(silent, [FIRST], BANK).changed.any()
    after = rebuilt(list(GENERAL[10:30]), base=silent)
    found = told(after, [FIRST, silent], BANK)
    assert np.flatnonzero(found.changed).tolist() == list(GENERAL[:30])


def test_a_dense_change_is_about_the_whole_domain() -> None:
    found = told(rebuilt(list(range(240))), [FIRST], BANK)
    assert found.changed.all()


def test_what_metadata_does_not_explain_was_asked_about() -> None:
    """Twelve scattered tasks fail at a lower price; the same number of one family would be explained."""
    scattered = [int(at) for at in np.random.default_rng(3).permutation(np.arange(0, SIZE, 2))[:12]]
    after = rebuilt(scattered)
    after.rows["successes"][scattered], after.rows["log_tokens"][scattered] = 0, 6.0
    assert np.flatnonzero(told(after, [FIRST], BANK).asked).tolist() == sorted(scattered)
    family = [*range(24)]
    after = rebuilt(family)
    after.rows["successes"][family], after.rows["log_tokens"][family] = 0, 6.0
    found = told(after, [FIRST], BANK)
    assert np.flatnonzero(found.changed).tolist() == family
    assert not found.asked.any()


@given(places=st.sets(st.integers(0, SIZE - 1), max_size=100))
def test_gate_and_detectors_see_the_same_changed_tasks(places: set[int]) -> None:
    """Where answers do not wander and cost the same the two contrasts are one: equal sets, whichever tasks changed."""
    after = rebuilt(sorted(places)).rows

    def gate(side: np.ndarray) -> dict[str, TaskBehaviour]:
        return {
            BANK.ids[at]: TaskBehaviour(str(row["artefact"]), True, float(row["log_tokens"]))
            for at, row in enumerate(side)
        }

    by_gate = changes(gate(FIRST.rows), gate(after)).changed
    by_detectors = contrast(FIRST.rows, after, BANK).changed
    assert by_gate == {BANK.ids[at] for at in np.flatnonzero(by_detectors)}
    assert len(by_gate) == len(places)
    assert math.isclose(
        float(shares(by_detectors, BANK.domains).sum()),
        sum(min(len(found), RELEASE_BITS) for found in by_domain(places)),
    )


def by_domain(places: set[int]) -> list[set[int]]:
    return [{at for at in places if at % 4 == domain} for domain in range(4)]
