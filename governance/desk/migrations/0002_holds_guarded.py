"""Guards of holds: legal moves, two people behind an extension and a void, no release while a hold lasts."""

from django.db import migrations

from audit.database import grant, immutable, legal_moves
from audit.governed import governed

HOLD, ORDER, DECISION = "desk_hold", "desk_holdorder", "desk_holddecision"
MOVES = {
    "active": ("extended", "lifted", "released", "voided"),
    "extended": ("lifted", "released", "voided"),
}
ENDING = "state, state_since, ended_at, why, ended_by, ground, ruling"
TOLD = "id, submission_id, rule, state, state_since, placed_at, due_at, extended_until, ended_at, why, ground"

GUARDED = """
CREATE FUNCTION desk_hold_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (NEW.id, NEW.submission_id, NEW.rule, NEW.placed_at, NEW.placed_by, NEW.due_at)
       IS DISTINCT FROM (OLD.id, OLD.submission_id, OLD.rule, OLD.placed_at, OLD.placed_by, OLD.due_at)
     OR OLD.ended_at IS NOT NULL
     OR (NEW.state <> 'extended' AND NEW.extended_until IS DISTINCT FROM OLD.extended_until)
     OR (NEW.state = 'extended' AND OLD.state = 'extended') THEN
    RAISE EXCEPTION 'a hold keeps what it was placed with, is extended once, and stays over'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (NEW.state = 'extended' AND NOT EXISTS (SELECT FROM public.desk_holddecision
        WHERE submission_id = NEW.submission_id AND kind = 'extend' AND approved_at IS NOT NULL))
     OR (NEW.state = 'voided' AND NEW.ruling IS NULL AND NOT EXISTS (SELECT FROM public.desk_holddecision
        WHERE submission_id = NEW.submission_id AND kind = 'void' AND approved_at IS NOT NULL)) THEN
    RAISE EXCEPTION 'two people extend a hold or void what is held'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION desk_hold_guard() FROM PUBLIC;
CREATE TRIGGER desk_hold_guard BEFORE UPDATE ON desk_hold FOR EACH ROW EXECUTE FUNCTION desk_hold_guard();
ALTER TABLE desk_hold ENABLE ALWAYS TRIGGER desk_hold_guard;

CREATE FUNCTION desk_decision_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF coalesce(NEW.approved_at, NEW.withdrawn_at) IS NOT NULL THEN
      RAISE EXCEPTION 'a decision begins as a proposal' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  ELSIF (NEW.id, NEW.submission_id, NEW.kind, NEW.ground, NEW.reason, NEW.proposed_by, NEW.proposed_at)
       IS DISTINCT FROM
        (OLD.id, OLD.submission_id, OLD.kind, OLD.ground, OLD.reason, OLD.proposed_by, OLD.proposed_at)
     OR coalesce(OLD.approved_at, OLD.withdrawn_at) IS NOT NULL THEN
    RAISE EXCEPTION 'what was proposed, approved or withdrawn never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER desk_decision_guard BEFORE INSERT OR UPDATE ON desk_holddecision
  FOR EACH ROW EXECUTE FUNCTION desk_decision_guard();
ALTER TABLE desk_holddecision ENABLE ALWAYS TRIGGER desk_decision_guard;

CREATE FUNCTION desk_held_stays() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM public.desk_hold WHERE submission_id = NEW.id AND NOT
      (CASE NEW.state WHEN 'complete' THEN state IN ('lifted', 'released') ELSE state = 'voided' END)) THEN
    RAISE EXCEPTION 'a held result goes nowhere before its hold has ended that way'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION desk_held_stays() FROM PUBLIC;
CREATE TRIGGER desk_held_stays BEFORE UPDATE ON submissions_submission FOR EACH ROW
  WHEN (OLD.state = 'held' AND NEW.state IN ('complete', 'voided')) EXECUTE FUNCTION desk_held_stays();
ALTER TABLE submissions_submission ENABLE ALWAYS TRIGGER desk_held_stays;
"""
UNGUARDED = """
DROP TRIGGER desk_held_stays ON submissions_submission;
DROP FUNCTION desk_held_stays();
DROP TRIGGER desk_decision_guard ON desk_holddecision;
DROP FUNCTION desk_decision_guard();
DROP TRIGGER desk_hold_guard ON desk_hold;
DROP FUNCTION desk_hold_guard();
"""


class Migration(migrations.Migration):
    dependencies = [("desk", "0001_holds"), ("governance", "0006_confirmation_runs")]

    operations = [
        legal_moves(HOLD, MOVES, name="desk_hold_moves", initial="active"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(HOLD, name="desk_hold_kept", message="holds stay on record", operations="DELETE"),
        immutable(ORDER, name="desk_order_kept", message="orders stay on record"),
        immutable(
            DECISION, name="desk_decision_kept", message="decisions stay on record", operations="DELETE"
        ),
        governed(HOLD, subject="submission", id_column="submission_id"),
        governed(ORDER, subject="submission", id_column="submission_id"),
        governed(DECISION, subject="submission", id_column="submission_id"),
        grant(f"SELECT ({TOLD})", [HOLD], ["web"]),
        grant("SELECT", [HOLD], ["sealed", "console", "auditor"]),
        grant("INSERT", [HOLD], ["sealed"]),
        grant(f"UPDATE ({ENDING})", [HOLD], ["sealed", "console"]),
        grant("UPDATE (extended_until)", [HOLD], ["console"]),
        grant("SELECT", [ORDER], ["sealed", "console"]),
        grant("INSERT", [ORDER], ["console"]),
        grant("SELECT (submission_id, ordered_by, ordered_at)", [ORDER], ["auditor"]),
        grant("SELECT, INSERT", [DECISION], ["console"]),
        grant("UPDATE (approved_by, approved_at, withdrawn_by, withdrawn_at)", [DECISION], ["console"]),
        grant(
            "SELECT (id, submission_id, kind, ground, proposed_by, proposed_at, approved_by, approved_at, "
            "withdrawn_by, withdrawn_at)",
            [DECISION],
            ["auditor"],
        ),
    ]
