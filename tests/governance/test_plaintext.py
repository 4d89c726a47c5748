"""A known plaintext: two submissions that differ on one task, and everything that their vendor can see of both."""

from __future__ import annotations

import difflib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from datetime import timedelta

import pytest
from scipy.stats import binomtest

from benchmark.models import TaskSetVersion
from config import clock
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
    """Every page and answer about these two submissions, headers included, without what differs anyway.

    Long afterwards, so that how slow this machine was just then makes no words like "5 seconds ago" differ.
    """
    with clock.shifted(timedelta(hours=3, minutes=30)):
        return OWN.sub("·", "\n".join(looked_at(vendor, submissions)))


def looked_at(vendor: world.Vendor, submissions: Sequence[Submission]) -> list[str]:
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
    return texts


def pair(version: TaskSetVersion, dice: random.Random, is_right: bool) -> str:
    """A deterministic harness, then the same with another answer on one task, right or wrong as the secret bit says.

    Tasks 12 to 23 are wrong at first; the vendor toggles one of them and wants to know whether it is right now.
    """
    return toggled(version, dice.choice(DOMAINS), {12}, right=range(13 if is_right else 12))


def toggled(version: TaskSetVersion, domain: str, tasks: Collection[int], *, right: Collection[int]) -> str:
    """What a new vendor sees of its harness and of a second one that answers those `tasks` of a domain otherwise.

    The second is dense in another domain, so that it is no repeat.
    """
    vendor = world.vendor()
    other = "finance" if domain == "general" else "general"
    first = answer(vendor, version)
    changed = {domain: tasks, other: range(24)}
    second = answer(vendor, version, 2, changed=changed, correct={domain: right})
    return seen(vendor, (first, second))


def difference(one: str, other: str) -> str:
    """The lines that differ, for whoever has to find out why."""
    lines = difflib.unified_diff(one.splitlines(), other.splitlines(), n=0, lineterm="")
    return "\n".join(line[:300] for line in lines)


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


@pytest.mark.slow
def test_a_single_toggled_task_is_not_decidable_in_four_hundred_pairs() -> None:
    assert attack(400) >= 0.001


@pytest.mark.slow
def test_the_attack_would_succeed_without_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same eyes tell all pairs apart where the rule lets every value out."""
    monkeypatch.setattr("governance.silencing.gate.silences", lambda *_, **__: {})
    assert attack(20) < 0.001


@pytest.mark.parametrize("domain", ["general", "finance"])
def test_a_single_toggled_task_shows_nowhere(domain: str) -> None:
    """Whatever there is to see is the same to the letter, right or wrong."""
    version = opened()
    right, wrong = (toggled(version, domain, {12}, right=range(count)) for count in (13, 12))
    assert right == wrong, difference(right, wrong)


def test_with_the_gate_off_everything_else_says_no_more_than_the_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of two toggled tasks is right now: the score is the same whichever it is, and so is all there is to see."""
    monkeypatch.setattr("governance.silencing.gate.silences", lambda *_, **__: {})
    version = opened()
    one, other, none = (
        toggled(version, "manufacturing", {12, 13}, right={*range(12), *more}) for more in ((12,), (13,), ())
    )
    assert one == other, difference(one, other)
    assert one != none


def test_twenty_toggled_tasks_tell_their_sum_alone() -> None:
    """Enough changed for a value of its own, so the gate is open: which ten of the twenty are right does not show."""
    version = opened()
    halves = (range(14), {*range(4), *range(14, 24)})
    one, other = (toggled(version, "finance", range(4, 24), right=half) for half in halves)
    assert one == other, difference(one, other)
    assert one != toggled(version, "finance", range(4, 24), right=range(15))
