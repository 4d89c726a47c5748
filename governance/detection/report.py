"""What a replay writes: who was flagged, when first, which tasks are exposed, whose public gap is large."""

from __future__ import annotations

from typing import Any

import numpy as np

from governance.detection.analysis import Alarm, Analysis
from governance.detection.channels import gain, gap, timing
from governance.detection.lines import Line
from governance.detection.statistics import benjamini_yekutieli


def make(analysis: Analysis) -> dict[str, Any]:
    """The report as plain data; equal histories give equal reports."""
    flagged: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for alarm in analysis.alarms:
        flagged.setdefault(alarm.account, []).append(alarm.channel)
        first.setdefault(alarm.account, alarm.submission)
    return {
        "flagged_accounts": {account: sorted(channels) for account, channels in sorted(flagged.items())},
        "first_alarm": dict(sorted(first.items())),
        "alarms": [_evidence(analysis, alarm) for alarm in analysis.alarms],
        "flagged_submissions": _submissions(analysis, set(flagged)),
        "rotation": rotation(analysis),
        "gap_alerts": sorted(gap_alerts(analysis)),
        "gains": _gains(analysis),
        "holds": sorted({alarm.account for alarm in analysis.alarms if alarm.hold}),
        "links": [[link.one, link.other, link.ground] for link in analysis.linker.links.values()],
        "q_values": q_values(analysis),
        "prompt": _prompt(analysis, set(flagged)),
    }


def rotation(analysis: Analysis) -> list[dict[str, Any]]:
    """Every held-out task, the most exposed first; equal scores in the order of the bank."""
    score = analysis.exposure.score(analysis.alarmed())
    order = np.argsort(-score, kind="stable")
    return [
        {"task": analysis.table.ids[place], "exposure_bits": round(float(score[place]), 4)} for place in order
    ]


def gap_alerts(analysis: Analysis) -> dict[str, float]:
    """Accounts whose public results lie far above their neighbours' among the held-out tasks, with the largest gap."""
    if not analysis.gaps:
        return {}
    usual = gap.usual(list(analysis.gaps.values()))
    found = {}
    for account, differences in analysis.gaps.items():
        pairs = [gap.z(one, usual) for one in differences]
        beyond = [mean for mean, z in pairs if z >= gap.LEVEL and mean >= gap.LEAST]
        if beyond:
            found[account] = round(max(beyond), 3)
    return found


def q_values(analysis: Analysis) -> dict[str, float]:
    """Each account's p by its e-process (1 over the highest value it reached), adjusted over all accounts."""
    accounts = sorted(analysis.lines)
    ps = [1.0 / analysis.lines[account].highest for account in accounts]
    adjusted = benjamini_yekutieli(ps)
    return {account: round(q, 6) for account, q in zip(accounts, adjusted, strict=True) if q <= 0.1}


def _evidence(analysis: Analysis, alarm: Alarm) -> dict[str, Any]:
    """What reviewers need: statistic, level, what it rests on. It names tasks, so no vendor ever sees it."""
    line = analysis.lines[alarm.account]
    findings = [
        {
            "submission": one.submission,
            "p": float(f"{one.finding.p:.3g}"),
            "explanation": round(one.finding.explanation, 3),
            "tasks": [analysis.table.ids[place] for place in np.flatnonzero(one.finding.tasks)],
        }
        for one in line.evidence.get(alarm.channel, [])
    ]
    return {
        "account": alarm.account,
        "organisation": alarm.organisation,
        "channel": alarm.channel,
        "submission": alarm.submission,
        "statistic": round(alarm.statistic, 3),
        "level": alarm.level,
        "hold": alarm.hold,
        "findings": findings or [_dips(line)],
    }


def _dips(line: Line) -> dict[str, Any]:
    """Focus and echo have no findings of single submissions: the whole line is their evidence."""
    return {
        "submissions": line.submissions[1:-1],
        "dips": [int(one.tasks.sum()) for one in line.spoilt],
        "echoes": [int(one.tasks.sum()) for one in line.echoes],
    }


def _submissions(analysis: Analysis, flagged: set[str]) -> list[str]:
    """Those that the evidence of flagged accounts names."""
    named = {
        evidence.submission
        for account in flagged
        for found in analysis.lines[account].evidence.values()
        for evidence in found
    }
    return sorted(named)


def _gains(analysis: Analysis) -> dict[str, float]:
    """A look, never an accusation: submissions that gained more than runs of one harness vary by."""
    return {
        submission: round(z, 2)
        for account in sorted(analysis.lines)
        for submission, z in zip(
            analysis.lines[account].submissions[1:], analysis.lines[account].gains, strict=True
        )
        if z > gain.BEYOND
    }


def _prompt(analysis: Analysis, flagged: set[str]) -> dict[str, float]:
    """Corroboration only: flagged lines that submit as soon as the cooldown ends."""
    found = {}
    for account in sorted(flagged):
        p = timing.tail(analysis.lines[account].sent, timing.COOLDOWN)
        if p < timing.UNUSUAL:
            found[account] = round(p, 6)
    return found
