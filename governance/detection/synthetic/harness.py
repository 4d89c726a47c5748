"""A made-up harness: what it would do on every task, how edits change that, and the runs it leaves.

`latent` holds, for each task, whether runs agree, the chance of success, the artefact and the price of one draw. An
edit draws some of it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from governance.detection.behaviour import Runs
from governance.detection.synthetic.bank import Bank
from governance.detection.tasks import Mask

FAILURE_PRICE = 0.10
"""What an honest failure costs more, in log tokens."""
WORTHLESS = 0.35
"""Share of honest failures that are right about nothing."""
LEAST_CREDIT, MOST_CREDIT = 0.15, 0.9
SUCCESS_SPREAD = 0.25

Values = npt.NDArray[np.float64]


@dataclass
class Override:
    """What an attacker does to some runs after or instead of the harness: masks over the tasks."""

    fail: Mask
    solve: Mask
    template: Mask
    credit: float = 0.3
    """Most partial credit of a failure made on purpose."""
    price: float | None = None
    """Factor of the usual tokens for failures and solutions made on purpose; None where the work was done in full."""


@dataclass
class Harness:
    """One line of development. `agreeing` is the share of tasks whose runs all agree."""

    bank: Bank
    rng: np.random.Generator
    ability: float
    agreeing: float
    noise: float
    flaky: float = 0.0
    crash: float = 0.0
    rule_based: bool = False
    level: float = field(init=False)
    agree: Mask = field(init=False)
    shaky: Mask = field(init=False)
    chance: Values = field(init=False)
    success: Mask = field(init=False)
    price: Values = field(init=False)
    credit: Values = field(init=False)
    artefact: npt.NDArray[np.uint64] = field(init=False)
    broken: Mask = field(init=False)
    trick: npt.NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.bank.table)
        self.level = float(self.rng.normal(0, 0.3))
        self.agree = self.rng.random(size) < self.agreeing
        self.shaky = self.agree & (self.rng.random(size) < self.flaky)
        self.trick = self._hashes(size)
        self.broken = np.zeros(size, dtype=bool)
        self.artefact = np.zeros(size, dtype=np.uint64)
        self.chance = np.zeros(size)
        self.success = np.zeros(size, dtype=bool)
        self.price, self.credit = np.zeros(size), np.zeros(size)
        self.redraw(np.ones(size, dtype=bool), fresh=1.0)

    def _hashes(self, shape: int | tuple[int, int]) -> npt.NDArray[np.uint64]:
        return self.rng.integers(1, 2**48, shape, dtype=np.uint64)

    def redraw(self, which: Mask, *, fresh: float, spread: float = 0.05, gain: float = 0.0) -> None:
        """Draw artefacts and prices of these tasks again, and of a share `fresh` of them the outcome too."""
        size = len(which)
        self.ability += gain
        again = which & (self.rng.random(size) < fresh)
        odds = self.ability - self.bank.hardness + self.rng.normal(0, 1.0, size)
        self.chance = np.where(again, 1 / (1 + np.exp(-odds)), self.chance)
        lucky = self.rng.random(size) < self.chance
        self.success = np.where(again, lucky, self.success)
        self.credit = np.where(again, self._credits(size), self.credit)
        self.artefact = np.where(which, self._hashes(size), self.artefact)
        drawn = self.bank.price + self.level + self.rng.normal(0, 0.15, size)
        moved = self.price + self.rng.normal(0, spread, size)
        self.price = np.where(which & (self.price == 0), drawn, np.where(which, moved, self.price))

    def _credits(self, shape: int | tuple[int, int]) -> Values:
        credit = self.rng.uniform(LEAST_CREDIT, MOST_CREDIT, shape)
        return np.where(self.rng.random(shape) < WORTHLESS, 0.0, credit)

    def runs(self, columns: int, override: Override | None = None) -> Runs:
        """What one submission leaves, `columns` runs for each task."""
        size = len(self.bank.table)
        shape = (size, columns)
        agree = self.agree[:, None]
        turned = self.shaky & (self.rng.random(size) < 0.5)
        spread = np.clip(
            self.chance[:, None] + self.rng.normal(0, SUCCESS_SPREAD, (size, 1)) * 0.3, 0.01, 0.99
        )
        success = np.where(agree, self.success[:, None], self.rng.random(shape) < spread)
        odd = turned & (self.rng.random(size) < 0.08)
        success = np.where((agree[:, 0] & odd)[:, None], ~success, success)
        artefact = np.where(
            agree, np.where(turned, self.artefact ^ self.trick, self.artefact)[:, None], self._hashes(shape)
        )
        credit = np.where(agree, self.credit[:, None], self._credits(shape))
        steps = np.where(
            agree,
            np.where(turned, self.rng.normal(0, 0.07, size), 0.0)[:, None],
            self.rng.normal(0, self.noise, shape),
        )
        price = self.price[:, None] + steps + FAILURE_PRICE * ~success
        tokens = np.asarray(np.zeros(shape) if self.rule_based else np.round(np.exp(price)), dtype=np.float64)
        ok = self.rng.random(shape) >= self.crash
        ok &= ~self.broken[:, None]
        if override is not None:
            success, credit, artefact, tokens = self._overridden(override, success, credit, artefact, tokens)
        tokens = np.where(ok, tokens, np.where(self.broken[:, None], 30.0, 1.8 * tokens))
        duration = (2.0 if self.rule_based else tokens / 90.0) * np.exp(self.rng.normal(0, 0.1, shape))
        return Runs(
            artefact=np.where(ok, artefact, np.uint64(0)).astype(np.uint64),
            tokens=tokens.astype(float),
            duration=np.asarray(duration, dtype=float),
            success=(success & ok).astype(np.uint8),
            score=np.where(success, 1.0, credit) * ok,
            ok=ok,
        )

    def _overridden(
        self,
        override: Override,
        success: Mask,
        credit: Values,
        artefact: npt.NDArray[np.uint64],
        tokens: Values,
    ) -> tuple[Mask, Values, npt.NDArray[np.uint64], Values]:
        size, columns = success.shape
        made = override.fail | override.solve
        success = (success | override.solve[:, None]) & ~(override.fail | override.template)[:, None]
        some = self.rng.random((size, columns)) < 0.5
        drawn: Values = self.rng.uniform(0, override.credit, some.shape)
        drawn[~some] = 0.0
        poor = np.where(self.agree[:, None], drawn[:, :1], drawn)
        credit = np.where(override.fail[:, None], poor, np.where(override.template[:, None], 0.0, credit))
        changed = np.where(self.agree[:, None], self._hashes((size, 1)), artefact)
        artefact = np.where(made[:, None], changed, artefact)
        artefact = np.where(override.template[:, None], self.trick[0], artefact)
        if override.price is not None:
            tokens = np.where(made[:, None], np.round(tokens * override.price), tokens)
        idle = np.exp(self.rng.normal(3.5, 0.1, (size, 1))).round()
        return success, credit, artefact, np.where(override.template[:, None], idle, tokens)
