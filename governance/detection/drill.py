"""How much would be noticed today: made-up campaigns in a copy of a history, in memory only."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from governance.detection.analysis import Analysis
from governance.detection.levels import Levels
from governance.detection.streams import Recorded
from governance.detection.synthetic.vendors import ATTACKERS
from governance.detection.synthetic.worlds import attack
from governance.detection.tasks import TaskTable


def drill(
    table: TaskTable, history: Sequence[Recorded], levels: Levels, *, times: int, seed: int
) -> dict[str, Any]:
    """Each time one campaign of every kind; caught, and at which of its submissions, by kind.

    `history` counts accounts of the copy in alarm besides, so that a power bought with false alarms is seen.
    """
    caught: dict[str, list[int]] = {kind: [] for kind in ATTACKERS}
    besides = 0
    runs = max(int(one.rows["runs"].max()) for one in history)
    for turn in range(times):
        rng = np.random.default_rng([seed, turn])
        begin = history[int(rng.integers(max(1, len(history) // 2)))].submitted_at
        campaigns = [attack(table, begin, seed * 1000 + turn, kind, runs) for kind in ATTACKERS]
        kinds = {account: kind for campaign in campaigns for account, kind in campaign.kinds.items()}
        added = [one for campaign in campaigns for one in campaign.submissions]
        analysis = Analysis(table, levels)
        for submission in sorted([*history, *added], key=lambda one: (one.submitted_at, one.id)):
            analysis.observe(submission)
        first: dict[str, int] = {}
        for alarm in analysis.alarms:
            position = analysis.lines[alarm.account].submissions.index(alarm.submission) + 1
            first.setdefault(alarm.account, position)
        besides += len(set(first) - set(kinds))
        for account in set(first) & set(kinds):
            caught[kinds[account]].append(first[account])
    return {
        "times": times,
        "runs": runs,
        "power": {kind: round(len(found) / times, 3) for kind, found in caught.items()},
        "median_alarm": {kind: median(found) for kind, found in caught.items() if found},
        "history": round(besides / times, 2),
    }
