"""Alarm levels as data: what a lineage's sum must reach in each channel, and how the level was found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).with_name("levels.json")
CHANNELS = ("contrast", "toggle", "subset", "dips", "focus", "echo", "cheap", "jumps")
FLOORS = {
    "contrast": 3.05,
    "toggle": 2.0,
    "subset": 1.0,
    "dips": 4.0,
    "focus": 3.0,
    "echo": 2.5,
    "cheap": 2.0,
    "jumps": 8.0,
}
"""No calibration goes below. Above 3 no alarm rests on one finding, whose excess is at most 3; a toggle rests on three
submissions as it is, a cheap solution on many tasks at once. Jumps catch little that
others do not, and are held high."""
NEEDS_RUNS = {"dips": 3, "jumps": 3, "focus": 3, "echo": 2}
"""Runs per task below which a channel is off."""


@dataclass(frozen=True)
class Levels:
    """One level for each channel, with the record of its calibration."""

    levels: Mapping[str, float]
    record: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if missing := set(CHANNELS) - set(self.levels):
            raise ValueError(f"no level for {sorted(missing)}")

    def to_json(self) -> str:
        """For a file; sorted, so that two equal calibrations are equal files."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def read(path: Path = SHIPPED) -> Levels:
    """Raises ValueError for a file that lacks a channel."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return Levels(content["levels"], content.get("record", {}))
