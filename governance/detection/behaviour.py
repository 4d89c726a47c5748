"""What one submission did on each task, in 22 bytes: the only thing the detectors look at.

Texts stay behind; correctness enters as a count of successes and the partial credit of the failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

ACTIVE, CRASHED, IDLE = 0, 1, 2
TEMPLATE_TASKS = 8
"""An artefact that answers this many tasks alike is a template."""
IDLE_RATIO = 20.0
"""A template is idle where it costs this many times less than the harness's other tasks."""
DTYPE = np.dtype(
    [
        ("artefact", "<u8"),  # majority artefact, 0 where the runs disagree
        ("log_tokens", "<f4"),
        ("log_duration", "<f4"),
        ("successes", "u1"),
        ("valid", "u1"),  # runs that neither crashed nor timed out
        ("runs", "u1"),
        ("activity", "u1"),
        ("partial", "<u2"),  # best credit of a valid run that failed, in 10,000ths; NO_FAILURE where none did
    ]
)
assert DTYPE.itemsize == 22
CREDIT = 10_000
NO_FAILURE = 65_535

Rows = npt.NDArray[Any]


@dataclass(frozen=True)
class Runs:
    """The runs of one submission, a row for each task and a column for each run.

    `artefact` is 0 where a run left none; `ok` says whether a run ended by itself.
    """

    artefact: npt.NDArray[np.uint64]
    tokens: npt.NDArray[np.float64]
    duration: npt.NDArray[np.float64]
    success: npt.NDArray[np.uint8]
    score: npt.NDArray[np.float64]
    ok: npt.NDArray[np.bool_]


def summarise(runs: Runs) -> Rows:
    """One row for each task: the majority artefact among valid runs, medians of cost, counts, activity."""
    tasks, columns = runs.artefact.shape
    rows = np.zeros(tasks, dtype=DTYPE)
    valid = runs.ok.sum(axis=1)
    rows["runs"], rows["valid"] = columns, valid
    rows["successes"] = runs.success.astype(bool).sum(axis=1)
    rows["log_tokens"] = _median(np.log1p(runs.tokens), runs.ok)
    rows["log_duration"] = _median(np.log1p(runs.duration), runs.ok)
    rows["artefact"] = _majority(runs.artefact, runs.ok)
    rows["activity"] = np.where(2 * valid <= columns, CRASHED, ACTIVE)
    rows["activity"][idle(rows)] = IDLE
    failed = runs.ok & (runs.success == 0)
    credit = np.where(failed, np.clip(runs.score, 0, 1), 0).max(axis=1)
    rows["partial"] = np.where(failed.any(axis=1), np.round(CREDIT * credit), NO_FAILURE)
    return rows


def idle(rows: Rows) -> npt.NDArray[np.bool_]:
    """Tasks answered by a template at a small fraction of what the harness's own other tasks cost."""
    alive = (rows["activity"] != CRASHED) & (rows["artefact"] != 0)
    template = np.zeros(len(rows), dtype=bool)
    _, back, count = np.unique(rows["artefact"][alive], return_inverse=True, return_counts=True)
    template[np.flatnonzero(alive)] = count[back] >= TEMPLATE_TASKS
    other = (rows["activity"] != CRASHED) & ~template
    if not template.any() or not other.any():
        return np.zeros(len(rows), dtype=bool)
    usual = float(np.median(rows["log_tokens"][other]))
    return template & (rows["log_tokens"] < usual - np.log(IDLE_RATIO))


def _median(values: npt.NDArray[np.float64], ok: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Of the valid runs; of all where none is valid."""
    use = ok | ~ok.any(axis=1, keepdims=True)
    ordered = np.sort(np.where(use, values, np.inf), axis=1)
    count = use.sum(axis=1)
    row = np.arange(len(values))
    return (ordered[row, (count - 1) // 2] + ordered[row, count // 2]) / 2


def _majority(artefact: npt.NDArray[np.uint64], ok: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """The artefact that more than half of the valid runs left; 0 where there is none."""
    usable = ok & (artefact != 0)
    ordered = np.sort(np.where(usable, artefact, np.uint64(0)), axis=1)
    # Unusable runs are zeros in front; a majority of the others stands in the middle of the rest.
    width = artefact.shape[1]
    count = usable.sum(axis=1)
    middle = np.clip(width - 1 - (count - 1) // 2, 0, width - 1)
    candidate = ordered[np.arange(len(artefact)), middle]
    agree = (usable & (artefact == candidate[:, None])).sum(axis=1)
    return np.where((2 * agree > count) & (count > 0), candidate, np.uint64(0))


class Store:
    """Behaviour of many submissions over one bank, append only, kept as one block of rows."""

    def __init__(self, tasks: int, room: int = 64) -> None:
        self.tasks = tasks
        self._block = np.zeros((room, tasks), dtype=DTYPE)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def __getitem__(self, index: int) -> Rows:
        if not 0 <= index < self._used:
            raise IndexError(index)
        return self._block[index]

    def append(self, rows: Rows) -> int:
        """Keep one submission's rows; its place."""
        if len(rows) != self.tasks:
            raise ValueError(f"{len(rows)} rows for {self.tasks} tasks")
        if self._used == len(self._block):
            grown = np.zeros((2 * len(self._block), self.tasks), dtype=DTYPE)
            grown[: self._used] = self._block
            self._block = grown
        self._block[self._used] = rows
        self._used += 1
        return self._used - 1

    def take(self, places: Sequence[int]) -> Rows:
        """The rows of several submissions, one submission a line."""
        return self._block[list(places)]

    def to_bytes(self) -> bytes:
        """For a file, a field or an object store."""
        head = np.array([self.tasks, self._used], dtype="<u4").tobytes()
        return head + self._block[: self._used].tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Store:
        """What `to_bytes` made; raises ValueError for anything else."""
        if len(data) < 8:
            raise ValueError("no behaviour store")
        tasks, used = (int(number) for number in np.frombuffer(data[:8], dtype="<u4"))
        if len(data) != 8 + tasks * used * DTYPE.itemsize:
            raise ValueError("no behaviour store, or a part of one")
        store = cls(tasks, room=max(1, used))
        store._block[:used] = np.frombuffer(data, dtype=DTYPE, offset=8).reshape(used, tasks)
        store._used = used
        return store
