"""How alike two cards are, against values computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from submissions.linking.similarity import near, similarity, words


def summary(text: str) -> dict[str, Any]:
    return {"schema": "harness-card/1", "layers": {"execution": {"summary": text}}}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (summary("one two three"), summary("one two three"), 1.0),
        (summary("one two three"), summary("One, TWO: three!"), 1.0),
        (summary("one two three"), summary("one two four"), 0.5),  # 2 of 4
        (summary("核对单据"), summary("核对账单"), 0.6),  # 核 对 单 of 核 对 单 据 账
        (summary("one"), {"layers": {"tools": {"summary": "one"}}}, 0.0),  # another place
        ({"models": ["a", "b"]}, {"models": ["b", "a"]}, 1.0),
        ({"k": 1, "l": True}, {"k": "1", "l": "true"}, 1.0),
        ({"k": None}, {}, 0.0),
        ({"k": "a b", "l": "c"}, {"k": "a", "l": "c"}, 2 / 3),
    ],
)
def test_jaccard_by_hand(one: dict[str, Any], other: dict[str, Any], expected: float) -> None:
    assert similarity(words(one), words(other)) == pytest.approx(expected)
    assert similarity(words(other), words(one)) == pytest.approx(expected)


def numbered(*numbers: int) -> Any:
    return words(summary(" ".join(f"w{number}" for number in numbers)))


def test_where_near_begins() -> None:
    whole = numbered(*range(20))
    assert near(whole, whole)
    assert near(whole, numbered(*range(19), 99))  # 19 of 21: 0.905
    assert not near(whole, numbered(*range(18), 98, 99))  # 18 of 22: 0.818
    assert near(whole, numbered(*range(22)))  # 20 of 22: 0.909
    assert not near(whole, numbered(*range(23)))  # 20 of 23: 0.870
    assert not near(numbered(*range(19)), numbered(*range(19)))  # says too little
