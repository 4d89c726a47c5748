"""The reward file: what was written reads back, and nothing else is taken for one."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.grader import reward
from scoring.artefacts import Reason
from scoring.channel import FailureType, ItemOutcome, RuleOutcome

scores = st.decimals(min_value=0, max_value=1, places=9).map(lambda number: number.normalize())
ids = st.text(min_size=1, max_size=6)
outcomes = st.builds(
    RuleOutcome,
    score=scores,
    success=st.booleans(),
    threshold_failed=st.lists(ids, max_size=2).map(tuple),
    fatal_failed=st.lists(ids, max_size=2).map(tuple),
    items=st.lists(st.builds(ItemOutcome, ids, scores, st.sampled_from(Reason)), max_size=4).map(tuple),
    failure_type=st.none() | st.sampled_from(FailureType),
)


@given(outcomes)
@settings(max_examples=60, deadline=None)
def test_a_reward_survives_writing_and_reading(outcome: RuleOutcome) -> None:
    assert reward.decode(reward.encode(outcome)) == outcome


GOOD = json.loads(
    reward.encode(
        RuleOutcome(Decimal("0.5"), False, (), (), (ItemOutcome("R1", Decimal(0), Reason.WRONG),), None)
    )
)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "reward/2"},
        {"score": 0.5},
        {"score": "1.5"},
        {"score": "-0"},
        {"score": "NaN"},
        {"score": "0.50"},
        {"score": "0" * 20},
        {"success": "yes"},
        {"failure_type": "bad luck"},
        {"items": [{"id": "R1"}]},
        {"items": None},
        {"extra": 1},
    ],
)
def test_what_is_no_reward(change: dict[str, object]) -> None:
    content = json.dumps({**GOOD, **change}, ensure_ascii=False, separators=(",", ":")).encode()
    with pytest.raises(reward.RewardError):
        reward.decode(content)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b" " * 300_000])
def test_what_is_no_json_of_ours(content: bytes) -> None:
    with pytest.raises(reward.RewardError):
        reward.decode(content)


def test_scores_are_written_without_exponent() -> None:
    numbers = ["0", "1", "0.75", "1E-9", "0.333333333", "0E-9"]
    assert [reward.decimal_text(Decimal(number)) for number in numbers] == [
        "0",
        "1",
        "0.75",
        "0.000000001",
        "0.333333333",
        "0",
    ]
