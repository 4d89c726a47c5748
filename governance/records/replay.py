"""What events say about the public records, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import Ledger, State, Told, becomes, sets, together

LINES = """
SELECT line.id, line.kind, coalesce(version.label, ''), (line.text_en <> '')::text,
       coalesce(line.published_in_id::text, '')
  FROM records_changelogline line LEFT JOIN benchmark_tasksetversion version ON version.id = line.task_set_id
"""


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
]
