"""What calls cost, by hand; what counts as down; who can read what."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluation.calls.policies import Prices, cost, is_down, may_pause, most_exposed

PRICES = Prices(Decimal("3.00"), Decimal("0.30"), Decimal("15.00"))


@pytest.mark.parametrize(
    ("given", "cached", "made", "expected"),
    [
        # 1,000 new at 3 + 9,000 cached at 0.30 + 500 at 15, of a million each: 0.003 + 0.0027 + 0.0075
        (10_000, 9_000, 500, "0.013200"),
        (10_000, None, 500, "0.037500"),
        (0, 0, 0, "0.000000"),
        (1_000_000, 0, 1_000_000, "18.000000"),
        # a provider that reports more cached than all: never less than nothing
        (100, 900, 0, "0.000030"),
    ],
)
def test_cost_by_hand(given: int, cached: int | None, made: int, expected: str) -> None:
    assert str(cost(PRICES, input_tokens=given, cached_tokens=cached, output_tokens=made)) == expected


@pytest.mark.parametrize(
    ("prices", "given", "made"),
    [
        (PRICES, None, 5),
        (PRICES, 5, None),
        (Prices(None, None, Decimal(1)), 5, 5),
        (Prices(Decimal(1), None, None), 5, 5),
    ],
)
def test_what_is_not_known_costs_nothing_that_is_known(
    prices: Prices, given: int | None, made: int | None
) -> None:
    assert cost(prices, input_tokens=given, cached_tokens=0, output_tokens=made) is None


def test_cached_tokens_without_a_price_of_their_own_cost_as_others() -> None:
    prices = Prices(Decimal(3), None, Decimal(15))
    assert cost(prices, input_tokens=1_000_000, cached_tokens=900_000, output_tokens=0) == Decimal(3)


def test_a_harness_cannot_bring_about_an_outage() -> None:
    """What a flood of its own calls, or a credential that its people withdraw, looks like pauses nothing."""
    assert not is_down("rate_limited")
    assert not is_down("credential_refused")
    assert not is_down("ok")
    assert not is_down("not_tried")
    assert is_down("unreachable")
    assert is_down("upstream_failed")


def test_the_most_exposed_class_counts() -> None:
    assert most_exposed([]) == "sealed"
    assert most_exposed(["sealed", "third_party"]) == "third_party"
    assert most_exposed(["vendor_endpoint", "sealed"]) == "vendor_endpoint"
    assert [may_pause(one) for one in ("sealed", "third_party", "vendor_endpoint")] == [True, True, False]
