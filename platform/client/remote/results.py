"""A released result, and what it says about a bar."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from client.exits import Exit
from client.trouble import Trouble
from client.words import say

DOMAINS = ("general", "finance", "supply_chain", "manufacturing")
MEAN = "enterprise"


class Verdict(StrEnum):
    REACHED = "reached"
    BELOW = "below"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Line:
    """One number with its interval; None where it is not reportable."""

    name: str
    value: int | None
    low: int | None
    high: int | None
    status: str


@dataclass(frozen=True)
class Bar:
    name: str
    points: float


def lines(result: dict[str, Any]) -> list[Line]:
    """The domains, then their mean."""
    rows = {**result["domains"], MEAN: result["enterprise"]}
    order = [*DOMAINS, *(name for name in rows if name not in (*DOMAINS, MEAN)), MEAN]
    return [_line(name, rows[name]) for name in order if name in rows]


def _line(name: str, row: dict[str, Any]) -> Line:
    value, half = row.get("value"), row.get("h")
    low, high = row.get("low"), row.get("high")
    if value is not None and half is not None:
        low = max(0, value - half if low is None else min(low, value - half))
        high = min(100, value + half if high is None else max(high, value + half))
    return Line(name, value, low, high, str(row.get("status", "")))


def parse_bar(text: str) -> Bar:
    """`finance=60` as a bar. Raises Trouble."""
    name, equals, points = text.partition("=")
    name = name.strip().replace("-", "_")
    try:
        found = Bar(name, float(points))
    except ValueError:
        equals = ""
        found = Bar(name, 0.0)
    if not equals or name not in (*DOMAINS, MEAN) or not 0 <= found.points <= 100:
        raise Trouble(
            "bar_invalid",
            say("{text} is no bar.").format(text=repr(text)),
            hint=say("Write a domain and points, as `--min finance=60`. Domains: {names}").format(
                names=", ".join((*DOMAINS, MEAN))
            ),
            exit=Exit.USAGE,
        )
    return found


def judge(line: Line | None, bar: Bar) -> Verdict:
    """Reached where the interval's lower end is not below the bar; below where the upper end is."""
    if line is None or line.low is None or line.high is None:
        return Verdict.INCONCLUSIVE
    if line.low >= bar.points:
        return Verdict.REACHED
    return Verdict.BELOW if line.high < bar.points else Verdict.INCONCLUSIVE


def exit_of(result: dict[str, Any], bars: list[Bar]) -> tuple[Exit, dict[str, Verdict]]:
    """What the bars say together: one that is missed decides, then one that cannot be told."""
    found = {line.name: line for line in lines(result)}
    verdicts = {bar.name: judge(found.get(bar.name), bar) for bar in bars}
    if Verdict.BELOW in verdicts.values():
        return Exit.BELOW, verdicts
    if Verdict.INCONCLUSIVE in verdicts.values() or not result.get("complete", True):
        return Exit.INCONCLUSIVE, verdicts
    return Exit.COMPLETE, verdicts
