"""What events say about levels, examinations and alarms, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import Ledger, becomes, sets, together

LEDGERS = [
    Ledger(
        table="watch_detectionlevels",
        columns=("runs_per_task",),
        query="SELECT id, runs_per_task FROM watch_detectionlevels",
        begins=frozenset({"detection_levels.set"}),
        steps={"detection_levels.set": sets(runs_per_task="runs_per_task")},
    ),
    Ledger(
        table="watch_examination",
        columns=("sequence", "levels", "failures", "cause"),
        query="SELECT submission_id, sequence, levels_id, failures, cause FROM watch_examination",
        begins=frozenset({"submission.analysed", "submission.analysis_failed"}),
        steps={
            "submission.analysis_failed": sets(failures="failures", cause="cause"),
            "submission.analysed": together(
                sets(sequence="sequence", levels="levels"), becomes(failures="0", cause="")
            ),
        },
    ),
    Ledger(
        table="watch_alarm",
        columns=("submission", "harness", "channel", "kind", "statistic", "level"),
        query="SELECT id, submission_id, harness_id, channel, kind, to_char(statistic, 'FM9999999990.000000'), "
        "to_char(level, 'FM9999999990.000000') FROM watch_alarm",
        begins=frozenset({"alarm.raised"}),
        steps={
            "alarm.raised": sets(
                submission="submission",
                harness="harness",
                channel="channel",
                kind="level_kind",
                statistic="statistic",
                level="level",
            )
        },
    ),
]
