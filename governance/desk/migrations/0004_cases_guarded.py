"""Guards of cases: the moves of the table, decisions and answers that stay, and what no process near vendors reads."""

from django.db import migrations

from audit.database import grant, immutable, legal_moves
from audit.governed import governed

CASE, ALARM, STEP, QUESTION = "desk_case", "desk_casealarm", "desk_casestep", "desk_casequestion"
MOVES = {
    "open": ("asked", "closed", "escalated", "reviewing", "watching"),
    "reviewing": ("asked", "closed", "escalated", "watching"),
    "asked": ("closed", "reviewing", "watching"),
    "watching": ("asked", "closed", "open", "reviewing"),
    "escalated": ("asked", "closed", "reviewing", "watching"),
}
MOVED = "UPDATE (state, state_since, due_at, outcome, taken_by)"

GUARDED = """
CREATE FUNCTION desk_case_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.task_set_id, NEW.lineage_id, NEW.opened_at)
       IS DISTINCT FROM (OLD.id, OLD.task_set_id, OLD.lineage_id, OLD.opened_at) OR OLD.state = 'closed' THEN
    RAISE EXCEPTION 'a case keeps what it is about, and stays closed'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER desk_case_guard BEFORE UPDATE ON desk_case FOR EACH ROW EXECUTE FUNCTION desk_case_guard();
ALTER TABLE desk_case ENABLE ALWAYS TRIGGER desk_case_guard;
CREATE FUNCTION desk_question_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.case_id, NEW.submission_id, NEW.question, NEW.asked_at, NEW.due_at)
       IS DISTINCT FROM (OLD.id, OLD.case_id, OLD.submission_id, OLD.question, OLD.asked_at, OLD.due_at)
     OR OLD.answered_at IS NOT NULL THEN
    RAISE EXCEPTION 'what was asked or answered never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER desk_question_guard BEFORE UPDATE ON desk_casequestion
  FOR EACH ROW EXECUTE FUNCTION desk_question_guard();
ALTER TABLE desk_casequestion ENABLE ALWAYS TRIGGER desk_question_guard;
"""
UNGUARDED = """
DROP TRIGGER desk_question_guard ON desk_casequestion;
DROP FUNCTION desk_question_guard();
DROP TRIGGER desk_case_guard ON desk_case;
DROP FUNCTION desk_case_guard();
"""


class Migration(migrations.Migration):
    dependencies = [("desk", "0003_cases"), ("watch", "0002_guards_and_grants")]

    operations = [
        legal_moves(CASE, MOVES, name="desk_case_moves", initial="open"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(CASE, name="desk_case_kept", message="cases stay on record", operations="DELETE"),
        immutable(ALARM, name="desk_casealarm_kept", message="an alarm stays in its case"),
        immutable(STEP, name="desk_casestep_kept", message="decisions stay on record"),
        immutable(
            QUESTION, name="desk_question_kept", message="questions stay on record", operations="DELETE"
        ),
        governed(CASE, subject="case"),
        governed(ALARM, subject="case", id_column="case_id"),
        governed(STEP, subject="case", id_column="case_id"),
        governed(QUESTION, subject="case_question"),
        grant(f"SELECT, INSERT, {MOVED}", [CASE], ["sealed"]),
        grant("SELECT, INSERT", [ALARM], ["sealed"]),
        grant("SELECT (id, case_id, answered_at)", [QUESTION], ["sealed"]),
        grant(f"SELECT, {MOVED}", [CASE], ["console"]),
        grant("SELECT", [ALARM], ["console"]),
        grant("SELECT, INSERT", [STEP, QUESTION], ["console"]),
        grant("SELECT (id, submission_id, question, asked_at, due_at, answered_at)", [QUESTION], ["web"]),
        grant("UPDATE (answer, answered_at)", [QUESTION], ["web"]),
        migrations.RunSQL(
            "GRANT INSERT, UPDATE (signals) ON accounts_linkcase TO lingee_console;",
            "REVOKE INSERT, UPDATE (signals) ON accounts_linkcase FROM lingee_console;",
        ),
        grant("SELECT", [CASE, ALARM], ["auditor"]),
        grant("SELECT (id, case_id, act, by, at)", [STEP], ["auditor"]),
        grant(
            "SELECT (id, case_id, submission_id, question, asked_at, due_at, answered_at)",
            [QUESTION],
            ["auditor"],
        ),
    ]
