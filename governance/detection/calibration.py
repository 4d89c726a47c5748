"""Levels from honest streams: the tail of what honest lineages reach, extrapolated to one in a thousand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from governance.detection.analysis import Analysis
from governance.detection.levels import CHANNELS, FLOORS, Levels
from governance.detection.streams import Recorded
from governance.detection.tasks import TaskTable

RATE = 0.001
"""Share of honest lineages that a channel may alarm over their life."""
TAIL = 0.1
"""The largest tenth is the tail."""
FEWEST = 20
"""Lineages in the tail below which no tail is fitted and the floor stands."""
LARGEST_SHAPE = 0.5


@dataclass(frozen=True)
class Honest:
    """One stream that is known to be honest: its name in the record, its bank and its submissions."""

    name: str
    table: TaskTable
    submissions: Iterable[Recorded]


def calibrate(streams: Iterable[Honest]) -> Levels:
    """One level for each channel, and the record of how it was found."""
    peaks: dict[str, list[float]] = {channel: [] for channel in CHANNELS}
    names, runs, lineages = [], set(), 0
    for stream in streams:
        analysis = Analysis(stream.table, Levels(dict.fromkeys(CHANNELS, float("inf"))))
        for submission in stream.submissions:
            analysis.observe(submission)
            runs.add(int(submission.rows["runs"].max()))
        for organisation in sorted(analysis.groups):
            for channel in CHANNELS:
                peaks[channel].append(analysis.peaks.get((organisation, channel), 0.0))
        lineages += len(analysis.groups)
        names.append(stream.name)
    fits = {channel: fit(np.array(values), FLOORS[channel]) for channel, values in peaks.items()}
    record = {"streams": names, "lineages": lineages, "runs": sorted(runs), "rate": RATE, "channels": fits}
    return Levels({channel: fits[channel]["level"] for channel in CHANNELS}, record)


def fit(values: np.ndarray, floor: float) -> Mapping[str, Any]:
    """Generalised Pareto above the ninth decile; the level that one in a thousand exceeds, and at least the floor."""
    largest = round(float(values.max(initial=0.0)), 3)
    found: dict[str, Any] = {"level": floor, "largest": largest, "tail": 0}
    if not len(values):
        return found
    threshold = float(np.quantile(values, 1 - TAIL))
    above = values[values > threshold] - threshold
    found["tail"] = len(above)
    if len(above) < FEWEST:
        return found
    shape, _, scale = stats.genpareto.fit(above, floc=0)
    shape = min(float(shape), LARGEST_SHAPE)
    share = len(above) / len(values)
    extreme = threshold + float(stats.genpareto.ppf(1 - min(1.0, RATE / share), shape, scale=scale))
    found |= {
        "threshold": round(threshold, 3),
        "shape": round(shape, 3),
        "scale": round(float(scale), 3),
        "extrapolated": round(extreme, 3),
        "level": round(max(floor, extreme), 2),
    }
    return found
