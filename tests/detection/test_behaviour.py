"""What is kept of a submission: majority artefacts, medians, counts, idle templates, in at most 40 bytes a task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from governance.detection.behaviour import (
    ACTIVE,
    CRASHED,
    DTYPE,
    IDLE,
    NO_FAILURE,
    Runs,
    Store,
    summarise,
)
from tests.detection.making import rows


def runs(artefact: list[list[int]], **columns: Sequence[Sequence[float]]) -> Runs:
    """Runs of these artefacts, all well unless said otherwise."""
    shape = np.array(artefact).shape
    return Runs(
        artefact=np.array(artefact, dtype=np.uint64),
        tokens=np.array(columns.get("tokens", np.full(shape, 999.0)), dtype=float),
        duration=np.array(columns.get("duration", np.full(shape, 9.0)), dtype=float),
        success=np.array(columns.get("success", np.ones(shape)), dtype=np.uint8),
        score=np.array(columns.get("score", np.ones(shape)), dtype=float),
        ok=np.array(columns.get("ok", np.ones(shape)), dtype=bool),
    )


def test_a_task_takes_twenty_two_bytes() -> None:
    assert DTYPE.itemsize == 22 <= 40
    store = Store(10)
    store.append(rows(10))
    assert len(store.to_bytes()) == 8 + 10 * DTYPE.itemsize


@pytest.mark.parametrize(
    ("artefact", "ok", "majority"),
    [
        ([5, 5, 5], [1, 1, 1], 5),
        ([5, 6, 5], [1, 1, 1], 5),
        ([6, 5, 4], [1, 1, 1], 0),
        ([5, 5, 0], [1, 1, 0], 5),  # one crashed: both others agree
        ([5, 6, 0], [1, 1, 0], 0),
        ([9, 0, 0], [1, 0, 0], 9),
        ([0, 0, 0], [0, 0, 0], 0),
        ([7], [1], 7),
        ([7, 8], [1, 1], 0),
        ([1, 2, 2, 2, 3], [1, 1, 1, 1, 1], 2),
        ([1, 1, 2, 2, 3], [1, 1, 1, 1, 1], 0),
    ],
)
def test_the_majority_artefact(artefact: list[int], ok: list[int], majority: int) -> None:
    assert summarise(runs([artefact], ok=[ok]))["artefact"][0] == majority


def test_costs_are_medians_of_valid_runs() -> None:
    found = summarise(
        runs([[1, 1, 1], [1, 1, 0]], tokens=[[10, 30, 20], [10, 30, 900]], ok=[[1, 1, 1], [1, 1, 0]])
    )
    assert np.expm1(found["log_tokens"][0]) == pytest.approx(20, rel=1e-6)
    assert found["log_tokens"][1] == pytest.approx((np.log1p(10) + np.log1p(30)) / 2, rel=1e-6)
    assert list(found["valid"]) == [3, 2]


def test_crashed_is_half_or_more_and_credit_is_the_best_failure() -> None:
    found = summarise(
        runs(
            [[1, 1, 0], [1, 0, 0], [2, 2, 2]],
            ok=[[1, 1, 0], [1, 0, 0], [1, 1, 1]],
            success=[[1, 1, 0], [0, 0, 0], [0, 0, 1]],
            score=[[1, 1, 0], [0.25, 0.9, 0.9], [0.1, 0.5, 1]],
        )
    )
    assert list(found["activity"]) == [ACTIVE, CRASHED, ACTIVE]
    assert list(found["partial"]) == [NO_FAILURE, 2_500, 5_000]
    assert list(found["successes"]) == [2, 0, 1]


def test_a_template_is_idle_only_where_it_costs_little() -> None:
    artefact = [[7] * 3] * 8 + [[n] * 3 for n in range(100, 120)]
    cheap = runs(artefact, tokens=[[30.0] * 3] * 8 + [[20_000.0] * 3] * 20)
    assert list(summarise(cheap)["activity"]) == [IDLE] * 8 + [ACTIVE] * 20
    dear = runs(artefact, tokens=[[19_000.0] * 3] * 8 + [[20_000.0] * 3] * 20)
    assert (summarise(dear)["activity"] == ACTIVE).all()
    seven = runs(artefact[1:], tokens=[[30.0] * 3] * 7 + [[20_000.0] * 3] * 20)
    assert (summarise(seven)["activity"] == ACTIVE).all()
    no_model = runs(artefact, tokens=[[0.0] * 3] * 28)
    assert (summarise(no_model)["activity"] == ACTIVE).all()


def test_the_store_grows_and_comes_back_from_bytes() -> None:
    store = Store(12, room=1)
    for seed in range(5):
        assert store.append(rows(12, seed=seed)) == seed
    again = Store.from_bytes(store.to_bytes())
    assert len(again) == 5
    for place in range(5):
        assert (again[place] == store[place]).all()
    again.append(rows(12, seed=9))
    assert (again.take([0, 5])[1] == rows(12, seed=9)).all()
    with pytest.raises(IndexError):
        store[5]
    with pytest.raises(ValueError, match="11 rows for 12 tasks"):
        store.append(rows(11))


@pytest.mark.parametrize("broken", [b"", b"1234567", Store(3).to_bytes() + b"x"])
def test_other_bytes_are_no_store(broken: bytes) -> None:
    with pytest.raises(ValueError, match="no behaviour store"):
        Store.from_bytes(broken)
