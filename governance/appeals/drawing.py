"""Which runs a blind re-check judges again: drawn by a seed that neither side could choose. Pure.

The vendor's SHA-256 of a word is in the log with the appeal, the platform's SHA-256 of a nonce after it and before the
word is known. Whoever has word and nonce draws the same runs again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from audit.merkle.commitment import drawn
from scoring import grid

SHORTEST_WORD, LONGEST_WORD = 16, 200
"""Characters: what is short could be found from its SHA-256."""
NONCE_BYTES = 32
CONFIDENCE = 0.95


def is_storable(word: str) -> bool:
    """Whether the word is no longer than one may be, and a text that a database holds: one without a NUL."""
    return len(word) <= LONGEST_WORD and "\x00" not in word


def seed_of(word: str, nonce: str) -> str:
    """The seed of the draw: SHA-256 of the word, a line feed and the nonce in hex, itself in hex."""
    return hashlib.sha256(f"{word}\n{nonce}".encode()).hexdigest()


def draw(seed: str, episodes: Iterable[str], count: int) -> list[str]:
    """The runs to be judged again, as audit.merkle.commitment.drawn picks them; all where there are fewer."""
    return drawn(seed, episodes, count)


@dataclass(frozen=True)
class Agreement:
    """Share of runs whose first verdict both people confirmed, in points on the 1-point grid, with its interval."""

    runs: int
    points: int
    low: int
    high: int


def agreement(confirmed: Sequence[bool]) -> Agreement:
    """From one entry a run: whether both people came to the first verdict.

    The interval is Wilson's for a binomial share (Wilson 1927, J. Am. Stat. Assoc. 22, 209) at 95 %, as
    scipy.stats.binomtest computes it; it depends on the share and the number of runs alone. Raises ValueError for none.
    """
    if not confirmed:
        raise ValueError("nothing was judged")
    from scipy.stats import binomtest  # web processes load this module, and never call it

    found = binomtest(sum(confirmed), len(confirmed)).proportion_ci(CONFIDENCE, method="wilson")
    parts = (sum(confirmed) / len(confirmed), found.low, found.high)
    share, low, high = (grid.half_up(Decimal(str(100 * part))) for part in parts)
    return Agreement(len(confirmed), share, low, high)
