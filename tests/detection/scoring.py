"""Scores a report against labels. Only tests read labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Score:
    """`campaigns`: kind → caught; `honest`: kinds of honest accounts that were flagged, one entry for each."""

    campaigns: Mapping[str, bool]
    honest: tuple[str, ...]
    precision_at_100: float
    r_precision: float
    gap_caught: float
    gap_false: int


def score(labels: Mapping[str, Any], report: Mapping[str, Any]) -> Score:
    """A campaign is caught if one of its accounts is flagged; a task counts as probed above a tenth of a bit."""
    accounts, flagged = labels["accounts"], set(report["flagged_accounts"])
    attackers = {account for account, about in accounts.items() if about["attack"]}
    kinds = {accounts[account]["kind"] for account in attackers}
    probed = {task for task, weight in labels["tasks"].items() if weight > 0.1}
    queue = [row["task"] for row in report["rotation"]]
    fitters = {account for account, about in accounts.items() if about["kind"] == "public_overfitter"}
    alerts = set(report["gap_alerts"])
    return Score(
        campaigns={
            kind: any(accounts[account]["kind"] == kind for account in flagged & attackers) for kind in kinds
        },
        honest=tuple(sorted(accounts[account]["kind"] for account in flagged - attackers)),
        precision_at_100=sum(task in probed for task in queue[:100]) / 100,
        r_precision=sum(task in probed for task in queue[: len(probed)]) / max(1, len(probed)),
        gap_caught=len(alerts & fitters) / max(1, len(fitters)),
        gap_false=len(alerts - fitters),
    )
