"""Submissions sent as soon as the cooldown ends, time after time: corroboration of another alarm, never one itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from governance.detection.statistics import binomial_tail

NAME = "timing"
WITHIN = timedelta(hours=24)
COOLDOWN = timedelta(days=7)
UNUSUAL = 0.01
USUAL = 0.25
"""Honest lines that submit within a day of the end: about a quarter of their submissions."""


def tail(sent: Sequence[datetime], cooldown: timedelta) -> float:
    """P(so many submissions within a day of the cooldown's end) for one line's times in order."""
    gaps = [later - earlier for earlier, later in pairwise(sent)]
    prompt = sum(timedelta(0) <= gap - cooldown <= WITHIN for gap in gaps)
    return binomial_tail(prompt, len(gaps), USUAL)
