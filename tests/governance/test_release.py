"""The release function, by hand-computed values and properties: nothing finer than the grid ever leaves."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.clock import next_tick
from governance.policies import may_release
from governance.release import DomainScore, Shown, release
from scoring import interval

HALF_WIDTHS = {
    name: interval.table([20] * 12, 0.1) for name in ("general", "finance", "supply_chain", "manufacturing")
}
SCORES = st.decimals(0, 1, places=8)


def shown(general: str, finance: str, supply_chain: str, manufacturing: str, *, valid: int = 1335) -> Shown:
    values = {
        "general": general,
        "finance": finance,
        "supply_chain": supply_chain,
        "manufacturing": manufacturing,
    }
    scores = {name: DomainScore(Decimal(value), Decimal(0), Decimal(1)) for name, value in values.items()}
    return release(scores, half_widths=HALF_WIDTHS, valid_runs=valid, prescribed_runs=1335)


def test_values_are_rounded_half_up_to_whole_points() -> None:
    found = shown("0.455", "0.4549999", "0.005", "0.995")
    assert [row.value for row in found.domains.values()] == [46, 45, 1, 100]


def test_the_enterprise_value_is_the_mean_of_its_three_shown_values() -> None:
    # Shown 45, 45 and 46 give 45.33 → 45, although the exact scores average 45.466 …
    assert shown("0", "0.4549", "0.4549", "0.4599").enterprise.value == 45
    # … and shown 46, 45 and 46 give 45.67 → 46, although the exact ones average 45.49.
    assert shown("0", "0.4550", "0.4547", "0.4550").enterprise.value == 46


def test_the_half_width_depends_on_the_shown_value_only() -> None:
    one, other = shown("0.4451", "0.5", "0.5", "0.5"), shown("0.4549", "0.5", "0.5", "0.5")
    assert one.domains["general"] == other.domains["general"]


def test_coverage_is_one_only_when_nothing_is_missing() -> None:
    assert shown("0", "0", "0", "0").coverage == "1.00"
    almost = shown("0", "0", "0", "0", valid=1334)
    assert (almost.coverage, almost.is_complete) == ("0.99", False)
    assert (almost.domains["general"].low, almost.domains["general"].high) == (0, 100)


def test_a_domain_without_a_score_has_no_number_and_takes_the_macro_along() -> None:
    scores = {name: DomainScore(Decimal("0.5"), Decimal(0), Decimal(1)) for name in HALF_WIDTHS}
    scores["finance"] = DomainScore(None, Decimal(0), Decimal(1))
    found = release(scores, half_widths=HALF_WIDTHS, valid_runs=1, prescribed_runs=2)
    assert found.domains["finance"].value is None
    assert found.enterprise.value is None


@given(SCORES, SCORES, SCORES, SCORES)
def test_only_whole_points_leave_and_close_scores_are_the_same(
    a: Decimal, b: Decimal, c: Decimal, d: Decimal
) -> None:
    found = shown(str(a), str(b), str(c), str(d))
    for row in (*found.domains.values(), found.enterprise):
        assert isinstance(row.value, int)
        assert 0 <= row.value <= 100
        assert isinstance(row.half_width, int)
        assert row.half_width >= 1
        assert (row.low, row.high) == (None, None)
    again = shown(*(str(Decimal(row.value or 0) / 100) for row in found.domains.values()))
    assert again == found


AT = datetime(2026, 11, 30, 12, 7, 31, 500, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tick", "expected"),
    [(900, datetime(2026, 11, 30, 12, 15, tzinfo=UTC)), (5, datetime(2026, 11, 30, 12, 7, 35, tzinfo=UTC))],
)
def test_ticks_are_multiples_since_the_epoch(tick: int, expected: datetime) -> None:
    assert next_tick(AT, tick) == expected


@pytest.mark.parametrize(
    ("state", "run_state", "missing", "minute", "allowed"),
    [
        ("grading", "ended", 0, 15, True),
        ("grading", "ended", 0, 14, False),
        ("grading", "grading", 0, 15, False),
        ("grading", "ended", 1, 15, False),
        ("incomplete", "ended", 1, 15, True),
        ("incomplete", "cancelled", 1, 15, True),
        ("incomplete", "executing", 1, 15, False),
        ("running", "ended", 0, 15, False),
        ("voided", "ended", 0, 15, False),
    ],
)
def test_what_may_be_released_when(
    state: str, run_state: str, missing: int, minute: int, allowed: bool
) -> None:
    now = AT.replace(minute=minute, second=0, microsecond=0)
    found = may_release(
        state=state, run_state=run_state, missing=missing, ended_at=AT, tick_seconds=900, now=now
    )
    assert found is allowed
