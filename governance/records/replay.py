"""What events say about the public records, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import Ledger, State, Told, becomes, sets, together

LINES = """
SELECT line.id, line.kind, coalesce(version.label, ''), (line.text_en <> '')::text,
       coalesce(line.published_in_id::text, '')
  FROM records_changelogline line LEFT JOIN benchmark_tasksetversion version ON version.id = line.task_set_id
"""


PROBLEMS = """
SELECT problem.id, version.label, source, part, problem.state, (escalated_at IS NOT NULL)::text,
       coalesce(fixed.label, '')
  FROM records_problem problem JOIN benchmark_tasksetversion version ON version.id = problem.task_set_id
  LEFT JOIN benchmark_tasksetversion fixed ON fixed.id = problem.fixed_in_id
"""


def _fixed(state: State, event: Told) -> None:
    state["fixed_in"] = event.text("fixed_in")


def _said(state: State, event: Told) -> None:
    state["kind"], state["task_set"] = event.text("line"), event.text("task_set")
    state["has_text"] = "true" if event.text("text_en") else "false"


LEDGERS = [
    Ledger(
        table="records_changelogline",
        columns=("kind", "task_set", "has_text", "release_date"),
        query=LINES,
        begins=frozenset({"change_log.added"}),
        steps={
            "change_log.added": together(_said, becomes(release_date="")),
            "change_log.dated": sets(release_date="release_date"),
        },
    ),
    Ledger(
        table="records_problem",
        columns=("task_set", "source", "part", "state", "escalated", "fixed_in"),
        query=PROBLEMS,
        begins=frozenset({"problem.reported"}),
        steps={
            "problem.reported": together(
                sets(task_set="task_set", source="source", part="part"),
                becomes(state="reported", escalated="false", fixed_in=""),
            ),
            "problem.moved": together(sets(state="after"), becomes(escalated="false"), _fixed),
            "problem.escalated": becomes(escalated="true"),
        },
    ),
]
