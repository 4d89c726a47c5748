"""What events say about evaluation runs, for `manage.py audit verify`; never about a task or a result."""

from __future__ import annotations

from audit.replay import Ledger, becomes, sets, together

LEDGERS = [
    Ledger(
        table="evaluation_evaluationrun",
        columns=("kind", "state", "task_set", "package", "runs_per_task", "episodes", "missing"),
        query="SELECT run.id, run.kind, run.state, version.label, package.digest, run.runs_per_task, run.total, "
        "run.missing FROM evaluation_evaluationrun run "
        "JOIN benchmark_tasksetversion version ON version.id = run.version_id "
        "JOIN evaluation_storedpackage package ON package.id = run.package_id",
        begins=frozenset({"run.created"}),
        steps={
            "run.created": together(
                sets(
                    kind="run_kind",
                    task_set="task_set",
                    package="package",
                    runs_per_task="runs_per_task",
                    episodes="episodes",
                ),
                becomes(state="executing", missing="0"),
            ),
            "run.executed": becomes(state="grading"),
            "run.ended": together(sets(missing="missing"), becomes(state="ended")),
            "run.cancelled": becomes(state="cancelled"),
            "run.reopened": becomes(state="executing", missing="0"),
        },
    ),
    Ledger(
        table="evaluation_modelupstream",
        columns=("organisation", "dialect", "exposure", "ceiling", "state"),
        query="SELECT id, organisation_id, dialect, exposure, ceiling || ' ' || currency, state "
        "FROM evaluation_modelupstream",
        begins=frozenset({"upstream.registered"}),
        steps={
            "upstream.registered": together(
                sets(organisation="organisation", dialect="dialect", exposure="exposure", ceiling="ceiling"),
                becomes(state="active"),
            ),
            "upstream.changed": sets(ceiling="ceiling"),
            "upstream.retired": becomes(state="retired"),
        },
    ),
]
