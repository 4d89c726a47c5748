"""What a blind re-check may become, what of it never changes, and who may read which part."""

from django.db import migrations

from audit.database import grant, immutable, legal_moves
from audit.governed import governed

RECHECK, SECRET, PANEL, ITEM, SHEET = (
    "appeals_recheck",
    "appeals_rechecksecret",
    "appeals_recheckpanel",
    "appeals_recheckitem",
    "appeals_rechecksheet",
)
MOVES = {
    "committed": ("revealed", "lapsed"),
    "revealed": ("drawn", "lapsed"),
    "drawn": ("judged", "lapsed"),
    "judged": ("shown", "lapsed"),
}

# Commitments stand, an end stands, and a verdict is given once.
GUARDED = """
CREATE FUNCTION appeals_recheck_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.appeal_id, NEW.platform_commitment, NEW.committed_at, NEW.word_due_at)
       IS DISTINCT FROM (OLD.appeal_id, OLD.platform_commitment, OLD.committed_at, OLD.word_due_at)
     OR (OLD.word <> '' AND NEW.word <> OLD.word) OR (OLD.nonce <> '' AND NEW.nonce <> OLD.nonce)
     OR OLD.state IN ('shown', 'lapsed') THEN
    RAISE EXCEPTION 'what was committed, or is over, never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_recheck_guard BEFORE UPDATE ON appeals_recheck
  FOR EACH ROW EXECUTE FUNCTION appeals_recheck_guard();
ALTER TABLE appeals_recheck ENABLE ALWAYS TRIGGER appeals_recheck_guard;

CREATE FUNCTION appeals_sheet_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.item_id, NEW.appeal_id, NEW.judge) IS DISTINCT FROM (OLD.id, OLD.item_id, OLD.appeal_id, OLD.judge)
     OR (OLD.judged_at IS NOT NULL
         AND (NEW.delivers, NEW.judged_at) IS DISTINCT FROM (OLD.delivers, OLD.judged_at)) THEN
    RAISE EXCEPTION 'a run is judged once' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_sheet_guard BEFORE UPDATE ON appeals_rechecksheet
  FOR EACH ROW EXECUTE FUNCTION appeals_sheet_guard();
ALTER TABLE appeals_rechecksheet ENABLE ALWAYS TRIGGER appeals_sheet_guard;
"""
UNGUARDED = """
DROP TRIGGER appeals_sheet_guard ON appeals_rechecksheet; DROP FUNCTION appeals_sheet_guard();
DROP TRIGGER appeals_recheck_guard ON appeals_recheck; DROP FUNCTION appeals_recheck_guard();
"""


class Migration(migrations.Migration):
    dependencies = [("appeals", "0003_rechecks"), ("appeals", "0002_appeals_guarded")]

    operations = [
        legal_moves(RECHECK, MOVES, name="recheck_legal_moves", initial="committed"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(RECHECK, name="recheck_kept", message="re-checks stay on record", operations="DELETE"),
        immutable(SECRET, name="recheck_secret_immutable", message="what was committed stays so"),
        immutable(PANEL, name="recheck_panel_immutable", message="who judges stays so"),
        immutable(ITEM, name="recheck_item_immutable", message="what was drawn stays so"),
        immutable(SHEET, name="recheck_sheet_kept", message="sheets stay on record", operations="DELETE"),
        *(
            governed(name, subject="appeal", id_column="appeal_id")
            for name in (RECHECK, SECRET, PANEL, ITEM, SHEET)
        ),
        grant("SELECT, UPDATE (word, state, state_since)", [RECHECK], ["web"]),
        grant("SELECT, UPDATE (state, state_since)", [RECHECK], ["console"]),
        grant(
            "SELECT, INSERT, UPDATE (state, state_since, nonce, runs, agreement, low, high, is_below)",
            [RECHECK],
            ["sealed"],
        ),
        grant("SELECT, INSERT", [SECRET, ITEM, SHEET], ["sealed"]),
        grant("SELECT", [PANEL], ["sealed"]),
        # The two behind a ruling stand behind what it orders; what the draft says is not read there.
        grant("SELECT (id, appeal_id, decision, proposed_by, decided_by)", ["appeals_draft"], ["sealed"]),
        grant("UPDATE (place, sealed, boxed_key)", [SHEET], ["sealed"]),
        grant("SELECT, INSERT", [PANEL], ["console"]),
        grant("SELECT, UPDATE (delivers, judged_at)", [SHEET], ["console"]),
        grant(
            "SELECT (appeal_id, state, state_since, platform_commitment, committed_at, word_due_at, nonce, runs, "
            "agreement, low, high, is_below)",
            [RECHECK],
            ["auditor"],
        ),
        grant("SELECT", [PANEL], ["auditor"]),
    ]
