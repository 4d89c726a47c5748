"""What events say about task-set versions, for `manage.py audit verify`; never about a task."""

from __future__ import annotations

from audit.replay import Ledger, becomes, sets, together

LEDGERS = [
    Ledger(
        table="benchmark_tasksetversion",
        columns=("label", "state", "digest", "opened", "closed"),
        query="SELECT id, label, state, digest, (opened_at IS NOT NULL)::int, (closed_at IS NOT NULL)::int "
        "FROM benchmark_tasksetversion",
        begins=frozenset({"task_set.imported"}),
        steps={
            "task_set.imported": together(
                sets(label="label"), becomes(state="draft", digest="", opened="0", closed="0")
            ),
            "task_set.frozen": together(sets(digest="digest"), becomes(state="frozen")),
            "task_set.opened": becomes(opened="1"),
            "task_set.closed": becomes(closed="1"),
        },
    ),
    Ledger(
        table="benchmark_assetcommitment",
        columns=("root", "tasks"),
        query="SELECT version_id, root, tasks FROM benchmark_assetcommitment",
        begins=frozenset({"task_set.frozen"}),
        steps={"task_set.frozen": sets(root="assets_root", tasks="tasks")},
    ),
]
