"""Legal moves, what never changes, an event for each change, and who may read: where vendors are served, next to nothing."""

from django.db import migrations

from audit.database import grant, immutable, legal_moves
from audit.governed import governed

PROFILING, PROFILE = "rotation_profiling", "rotation_taskprofile"
ENTRY, PLAN, LINE = "rotation_rotationentry", "rotation_rotationplan", "rotation_rotationline"
ANCHOR, SUCCESSION = "rotation_anchorrun", "rotation_succession"
ENTRY_MOVES = {
    "queued": ("proposed",),
    "proposed": ("queued", "watching", "rotating", "retiring", "dismissed"),
    "watching": ("queued",),
    "rotating": ("replaced",),
    "retiring": ("retired",),
}
PLAN_MOVES = {
    "seeded": ("drawn", "discarded"),
    "drawn": ("proposed", "discarded"),
    "proposed": ("approved", "drawn", "discarded"),
    "approved": ("composed", "discarded"),
    "composed": ("in_force", "discarded"),
}
DECIDED = "state, state_since, due_at, owner, verdict, ground, verdict_reason, proposed_by, decided_by"
PLANNED = "state, state_since, due_at, owner, reason, proposed_by, approved_by"

GUARDED = """
CREATE FUNCTION rotation_entry_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.task_set_id, NEW.task_id, NEW.cause, NEW.score, NEW.evidence, NEW.reason, NEW.opened_at)
       IS DISTINCT FROM
     (OLD.id, OLD.task_set_id, OLD.task_id, OLD.cause, OLD.score, OLD.evidence, OLD.reason, OLD.opened_at)
     OR OLD.state IN ('replaced', 'retired', 'dismissed') THEN
    RAISE EXCEPTION 'why a task entered the queue, and how it left, never change'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER rotation_entry_guard BEFORE UPDATE ON rotation_rotationentry
  FOR EACH ROW EXECUTE FUNCTION rotation_entry_guard();
ALTER TABLE rotation_rotationentry ENABLE ALWAYS TRIGGER rotation_entry_guard;
CREATE FUNCTION rotation_plan_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.former_id, NEW.label, NEW.opened_at, NEW.seed_digest)
       IS DISTINCT FROM (OLD.id, OLD.former_id, OLD.label, OLD.opened_at, OLD.seed_digest)
     OR (OLD.lines_digest <> '' AND (NEW.seed, NEW.lines_digest, NEW.checks, NEW.profiling_id)
       IS DISTINCT FROM (OLD.seed, OLD.lines_digest, OLD.checks, OLD.profiling_id))
     OR (OLD.next_id IS NOT NULL AND NEW.next_id IS DISTINCT FROM OLD.next_id)
     OR OLD.state IN ('in_force', 'discarded') THEN
    RAISE EXCEPTION 'what was committed, drawn or put in force never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER rotation_plan_guard BEFORE UPDATE ON rotation_rotationplan
  FOR EACH ROW EXECUTE FUNCTION rotation_plan_guard();
ALTER TABLE rotation_rotationplan ENABLE ALWAYS TRIGGER rotation_plan_guard;
CREATE FUNCTION rotation_line_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM rotation_rotationplan WHERE id = NEW.plan_id AND state = 'seeded') THEN
    RAISE EXCEPTION 'lines are drawn once, by the committed seed'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER rotation_line_guard BEFORE INSERT ON rotation_rotationline
  FOR EACH ROW EXECUTE FUNCTION rotation_line_guard();
ALTER TABLE rotation_rotationline ENABLE ALWAYS TRIGGER rotation_line_guard;
"""
UNGUARDED = """
DROP TRIGGER rotation_line_guard ON rotation_rotationline;
DROP FUNCTION rotation_line_guard();
DROP TRIGGER rotation_plan_guard ON rotation_rotationplan;
DROP FUNCTION rotation_plan_guard();
DROP TRIGGER rotation_entry_guard ON rotation_rotationentry;
DROP FUNCTION rotation_entry_guard();
"""


class Migration(migrations.Migration):
    dependencies = [("rotation", "0001_initial")]

    operations = [
        legal_moves(ENTRY, ENTRY_MOVES, name="rotation_entry_moves", initial="queued"),
        legal_moves(PLAN, PLAN_MOVES, name="rotation_plan_moves", initial="seeded"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(ENTRY, name="rotation_entry_kept", message="entries stay on record", operations="DELETE"),
        immutable(PLAN, name="rotation_plan_kept", message="plans stay on record", operations="DELETE"),
        immutable(LINE, name="rotation_line_immutable", message="what was drawn never changes"),
        immutable(PROFILING, name="rotation_profiling_immutable", message="profiles never change"),
        immutable(PROFILE, name="rotation_profile_immutable", message="profiles never change"),
        immutable(ANCHOR, name="rotation_anchor_immutable", message="runs of anchors never change"),
        immutable(SUCCESSION, name="rotation_succession_immutable", message="what was stated never changes"),
        governed(PROFILING, subject="profiling"),
        governed(PROFILE, subject="profiling", id_column="profiling_id"),
        governed(ENTRY, subject="rotation_entry"),
        governed(PLAN, subject="rotation_plan"),
        governed(LINE, subject="rotation_plan", id_column="plan_id"),
        governed(ANCHOR, subject="rotation_plan", id_column="plan_id"),
        governed(SUCCESSION, subject="succession"),
        grant("SELECT", [SUCCESSION], ["web", "console", "auditor"]),
        grant("SELECT", [PROFILING], ["auditor"]),
        grant("SELECT, INSERT", [PROFILING, PROFILE, LINE, ANCHOR, SUCCESSION], ["sealed"]),
        grant("SELECT, INSERT, UPDATE", [ENTRY, PLAN], ["sealed"]),
        grant("SELECT", [PROFILING, PROFILE, LINE, PLAN], ["console"]),
        grant(f"SELECT, INSERT, UPDATE ({DECIDED})", [ENTRY], ["console"]),
        grant(f"UPDATE ({PLANNED})", [PLAN], ["console"]),
        grant(
            "SELECT (id, task_set_id, cause, state, state_since, due_at, owner, opened_at, verdict, ground, "
            "proposed_by, decided_by)",
            [ENTRY],
            ["auditor"],
        ),
        grant(
            "SELECT (id, former_id, label, state, state_since, due_at, owner, opened_at, seed_digest, seed, "
            "lines_digest, proposed_by, approved_by, next_id)",
            [PLAN],
            ["auditor"],
        ),
    ]
