"""Bars: measured figures with a limit each, one or more for an acceptance line.

A module of this package registers a function; it returns the figures, in the unit its bar names:

    @bars.measure("main-job:2")
    def overhead() -> list[Bar]:
        return [Bar("ratio", figure=1.17, at_most=1.3, unit="x")]
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field

import tests.benchmarks


@dataclass(frozen=True)
class Bar:
    """One figure and what it may be; exactly one of `at_most` and `at_least` is given."""

    name: str
    figure: float
    at_most: float | None = None
    at_least: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"bar {self.name}: give at_most or at_least")

    @property
    def ok(self) -> bool:
        """Whether the figure keeps its limit; a figure that is no number does not."""
        if self.at_most is not None:
            return self.figure <= self.at_most
        return self.at_least is not None and self.figure >= self.at_least

    @property
    def limit(self) -> str:
        """The limit in words: `<=1.3x`."""
        sign, value = ("<=", self.at_most) if self.at_most is not None else (">=", self.at_least)
        return f"{sign}{value:g}{self.unit}"


Measure = Callable[[], list[Bar]]


@dataclass
class Registry:
    """Measures by the acceptance line they carry."""

    measures: list[tuple[str, Measure]] = field(default_factory=list)

    def measure(self, line: str) -> Callable[[Measure], Measure]:
        """Register a function for `slug:number`."""

        def register(function: Measure) -> Measure:
            self.measures.append((line, function))
            return function

        return register

    def chosen(self, only: str | None) -> list[tuple[str, Measure]]:
        """All, those of one slug, or those of one `slug:number`."""
        return [
            (line, function)
            for line, function in self.measures
            if only is None or only in {line, line.partition(":")[0]}
        ]


bars = Registry()


def load() -> Registry:
    """Import every module of the package, so that each registers its bars."""
    for found in pkgutil.iter_modules(tests.benchmarks.__path__):
        if found.name != "__main__":
            importlib.import_module(f"tests.benchmarks.{found.name}")
    return bars
