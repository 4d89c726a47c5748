"""A known plaintext: two submissions that differ on one task, and everything that their vendor can see of both."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from scipy.stats import binomtest

from benchmark.models import TaskSetVersion
from submissions.models import Submission
from tests.governance.test_silences import DOMAINS, answer, opened
from tests.pages import site
from tests.submissions import world

pytestmark = [pytest.mark.django_db, pytest.mark.acceptance("governance:4")]

PAGES = ("leaderboard:result", "submissions:submission")
ALONE = ("leaderboard:home", "governance:information", "submissions:submissions", "accounts:notices")
API = ("information", "quota", "submissions", "organisation")
OWN = re.compile(
    r'name="csrfmiddlewaretoken" value="[^"]+"|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|vendor-[0-9a-f]{8}|'
    r"[0-9a-f]{64}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:\+00:00|Z)?|"
    r"1\.\d+(?=\D)|nonce-[\w+/=-]+|\d+ seconds?|(?:bytes|size)\D{1,9}\d+"
)
"""What differs between any two vendors: ids, digests, times, version strings."""


def seen(vendor: world.Vendor, submissions: Sequence[Submission]) -> str:
    """Every page and answer about these two submissions, headers included, without what differs anyway."""
    client = site.signed_in(vendor.user)
    found = []
    for name in ALONE:
        found.append(client.get(site.address(name)))
    for one in submissions:
        found += [client.get(site.address(name, one.id)) for name in PAGES]
    assert all(page.status_code == 200 for page in found)
    texts = [f"{sorted(page.headers)} {page.content.decode()}" for page in found]
    for path in [*API, *(f"submissions/{one.id}{end}" for one in submissions for end in ("", "/result"))]:
        reply = vendor.api.get(path)
        assert reply.status == 200, path
        texts.append(f"{sorted(reply.headers)} {reply.body}")
    return OWN.sub("·", "\n".join(texts))


def pair(version: TaskSetVersion, dice: random.Random, is_right: bool, cosmetic: int = 0) -> str:
    """A deterministic harness, then the same with another answer on one task, right or wrong as the secret bit says.

    `cosmetic` more tasks of the domain are answered in other words and score as before.
    """
    vendor = world.vendor()
    domain = dice.choice(DOMAINS)
    first = answer(vendor, version)
    # Tasks 12 to 23 are wrong at first; the vendor toggles one of them and wants to know whether it is right now.
    second = answer(
        vendor,
        version,
        2,
        changed={domain: range(12 - cosmetic, 13), "general": range(24)}
        if domain != "general"
        else {domain: range(12 - cosmetic, 13), "finance": range(24)},
        correct={domain: range(13 if is_right else 12)},
    )
    return seen(vendor, (first, second))


def accuracy(looks: Sequence[tuple[str, bool]]) -> tuple[int, int]:
    """Right guesses of somebody who saw the first half with the answers; out of how many."""
    half = len(looks) // 2
    known: dict[str, Counter[bool]] = defaultdict(Counter)
    for text, is_right in looks[:half]:
        known[text][is_right] += 1
    guesses = [known[text].most_common(1)[0][0] if known[text] else True for text, _ in looks[half:]]
    right = sum(guess == is_right for guess, (_, is_right) in zip(guesses, looks[half:], strict=True))
    return right, len(guesses)


def bits(pairs: int) -> list[bool]:
    """As many right as wrong in either half, in random order."""
    dice = random.Random(7)
    found: list[bool] = []
    for _ in range(2):
        half = [True, False] * (pairs // 4)
        dice.shuffle(half)
        found += half
    return found


def attack(pairs: int) -> float:
    """One-sided p of the guesses against chance."""
    version, dice = opened(), random.Random(11)
    looks = [(pair(version, dice, is_right), is_right) for is_right in bits(pairs)]
    right, total = accuracy(looks)
    return float(binomtest(right, total, 0.5, alternative="greater").pvalue)


def test_a_single_toggled_task_is_not_decidable() -> None:
    assert attack(20) >= 0.001


@pytest.mark.slow
def test_a_single_toggled_task_is_not_decidable_in_four_hundred_pairs() -> None:
    assert attack(400) >= 0.001


def test_the_attack_would_succeed_without_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same eyes tell all pairs apart where the rule lets every value out."""
    monkeypatch.setattr("governance.silencing.gate.silences", lambda *_, **__: {})
    assert attack(20) < 0.001
