"""Who may read what of a run: the wall between per-task results and what serves vendors."""

from django.db import migrations

from audit.database import grant

RUN = "evaluation_evaluationrun"
INTERNAL = ["evaluation_episode", "evaluation_attempt", "evaluation_runshare"]
KEYS = ["evaluation_storedpackage", "evaluation_runsecret"]
CLAIM_COLUMNS = "SELECT, UPDATE (state, fence, worker, lease_until, attempts, not_before)"


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial"), ("benchmark", "0002_freezing")]

    operations = [
        grant("SELECT", [RUN, "evaluation_publictaskresult"], ["web"]),
        grant("SELECT (worker, queue, seen_at)", ["evaluation_workerreport"], ["web"]),
        grant("SELECT", [RUN, *KEYS], ["execute"]),
        grant(CLAIM_COLUMNS, ["evaluation_episode"], ["execute"]),
        grant("SELECT, INSERT, UPDATE", ["evaluation_attempt", "evaluation_runshare"], ["execute"]),
        grant("SELECT, INSERT, UPDATE", ["evaluation_workerreport"], ["execute", "sealed"]),
        grant(
            "SELECT, INSERT, UPDATE",
            [RUN, *INTERNAL, *KEYS, "evaluation_taskresult", "evaluation_publictaskresult"],
            ["sealed"],
        ),
        grant(
            "SELECT",
            [
                RUN,
                *INTERNAL,
                "evaluation_workerreport",
                "evaluation_taskresult",
                "evaluation_publictaskresult",
            ],
            ["console"],
        ),
        grant("SELECT", [RUN], ["auditor"]),
    ]
