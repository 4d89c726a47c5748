"""Who may read what of a run: the wall between per-task results and what serves vendors."""

from django.db import migrations

from audit.database import grant, immutable

ENDED_ATTEMPT = """
CREATE FUNCTION evaluation_attempt_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.ended_at IS NOT NULL THEN
    RAISE EXCEPTION 'an ended attempt never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER evaluation_attempt_ended BEFORE UPDATE ON evaluation_attempt
  FOR EACH ROW EXECUTE FUNCTION evaluation_attempt_ended();
ALTER TABLE evaluation_attempt ENABLE ALWAYS TRIGGER evaluation_attempt_ended;
"""
REOPEN = (
    "DROP TRIGGER evaluation_attempt_ended ON evaluation_attempt; DROP FUNCTION evaluation_attempt_ended();"
)
RUN = "evaluation_evaluationrun"
INTERNAL = ["evaluation_episode", "evaluation_attempt", "evaluation_runshare"]
KEYS = ["evaluation_storedpackage", "evaluation_runsecret"]
CLAIM_COLUMNS = "SELECT, UPDATE (state, fence, worker, kernel, lease_until, attempts, not_before)"


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial"), ("benchmark", "0002_freezing")]

    operations = [
        migrations.RunSQL(ENDED_ATTEMPT, REOPEN),
        immutable("evaluation_taskresult", name="task_result_immutable", message="a result never changes"),
        immutable(
            "evaluation_publictaskresult", name="public_result_immutable", message="a result never changes"
        ),
        grant("SELECT", [RUN, "evaluation_publictaskresult"], ["web"]),
        grant("SELECT (worker, queue, seen_at)", ["evaluation_workerreport"], ["web"]),
        grant("SELECT", [RUN, *KEYS], ["execute"]),
        grant(CLAIM_COLUMNS, ["evaluation_episode"], ["execute"]),
        grant("SELECT, INSERT, UPDATE", ["evaluation_attempt", "evaluation_runshare"], ["execute"]),
        grant("SELECT, INSERT, UPDATE", ["evaluation_workerreport"], ["execute", "sealed"]),
        grant(
            "SELECT, INSERT, UPDATE",
            [RUN, *INTERNAL, *KEYS],
            ["sealed"],
        ),
        grant("SELECT, INSERT", ["evaluation_taskresult", "evaluation_publictaskresult"], ["sealed"]),
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
