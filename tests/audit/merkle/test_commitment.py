"""Commitments to what was graded: leaves, salts, roots and draws against values computed by hand."""

from __future__ import annotations

import hashlib
import hmac
from decimal import Decimal

import pytest

from audit.canonical import NotCanonical
from audit.merkle import commitment

SECRET = bytes(range(32))
LEAF: dict[str, str | int] = {
    "artefact": "aa",
    "attempt": 1,
    "episode": "00",
    "grader": "g",
    "judge": "",
    "score": "0.5",
    "seed": "7",
    "task": "t",
    "salt": "ff",
}


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def test_the_root_of_three_runs_by_hand() -> None:
    texts = [
        b'{"artefact":"aa","attempt":1,"episode":"%02d","grader":"g","judge":"","salt":"ff","score":"%s","seed":"7","task":"t"}'
        % (number, score)
        for number, score in enumerate([b"0.5", b"1", b"unavailable"])
    ]
    a, b, c = (sha(b"\x00" + text) for text in texts)
    by_hand = sha(b"\x01" + sha(b"\x01" + a + b) + c).hex()
    leaves: list[commitment.Leaf] = [
        {**LEAF, "episode": f"{number:02}", "score": score}
        for number, score in enumerate(["0.5", "1", "unavailable"])
    ]
    assert set(LEAF) == commitment.RUN_FIELDS
    assert commitment.root_of(map(commitment.hash_of, leaves)) == by_hand


def test_a_salt_is_half_an_hmac_of_the_members_name() -> None:
    expected = hmac.new(SECRET, b"finance-1", "sha256").hexdigest()[:32]
    assert commitment.salt_of(SECRET, "finance-1") == expected
    assert commitment.salt_of(SECRET, "finance-2") != expected


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (Decimal("0"), "0"),
        (Decimal("0.000000000"), "0"),
        (Decimal("1.000000000"), "1"),
        (Decimal("0.450000000"), "0.45"),
        (Decimal("0.333333333"), "0.333333333"),
        (Decimal("1E-9"), "0.000000001"),
        (None, "unavailable"),
    ],
)
def test_a_score_has_one_text(score: Decimal | None, text: str) -> None:
    assert commitment.score_text(score) == text
    assert commitment.parse_score(text) == score


@pytest.mark.parametrize("text", ["0.50", "1.0", "2", "-0", "1e-3", ".5", "", "0.1234567891", 1, None, "NaN"])
def test_other_texts_are_no_scores(text: object) -> None:
    with pytest.raises(commitment.NoScore):
        commitment.parse_score(text)


def test_a_leaf_without_canonical_form_is_refused() -> None:
    with pytest.raises(NotCanonical):
        commitment.hash_of({**LEAF, "score": 0.5})  # type: ignore[dict-item]


def test_a_draw_takes_the_smallest_hashes_of_seed_and_episode() -> None:
    episodes = [f"{number:032x}" for number in range(50)]
    by_hand = sorted((hashlib.sha256(f"seed{episode}".encode()).hexdigest(), episode) for episode in episodes)
    found = commitment.drawn("seed", reversed(episodes), 5)
    assert found == [episode for _, episode in by_hand[:5]]
    assert commitment.drawn("another", episodes, 5) != found
    assert sorted(commitment.drawn("seed", episodes, 99)) == episodes
    with pytest.raises(ValueError, match="at least one"):
        commitment.drawn("seed", episodes, 0)


def test_what_has_no_result_is_not_drawn() -> None:
    leaves: list[commitment.Leaf] = [LEAF, {**LEAF, "episode": "01", "score": "unavailable"}]
    assert commitment.drawable(leaves) == ["00"]
