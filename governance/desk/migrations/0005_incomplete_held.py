"""A result that its vendor kept incomplete may be held before its release, and goes back to where it came from."""

from django.db import migrations

from audit.database import legal_moves
from submissions.policies.states import MOVES

STAYS = """
CREATE OR REPLACE FUNCTION desk_held_stays() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF OLD.state = 'held' AND EXISTS (SELECT FROM public.desk_hold WHERE submission_id = NEW.id AND NOT
      (CASE WHEN NEW.state IN ('complete', 'incomplete') THEN state IN ('lifted', 'released')
       ELSE state = 'voided' END)) THEN
    RAISE EXCEPTION 'a held result goes nowhere before its hold has ended that way'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.state = 'incomplete' AND (
      EXISTS (SELECT FROM public.governance_release WHERE submission_id = NEW.id)
      OR NOT EXISTS (SELECT FROM public.desk_hold WHERE submission_id = NEW.id AND state = 'active')) THEN
    RAISE EXCEPTION 'what was kept incomplete is held before its release, under a hold, or not at all'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER desk_held_stays ON submissions_submission;
CREATE TRIGGER desk_held_stays BEFORE UPDATE ON submissions_submission FOR EACH ROW
  WHEN ((OLD.state = 'held' AND NEW.state IN ('complete', 'incomplete', 'voided'))
     OR (OLD.state = 'incomplete' AND NEW.state = 'held'))
  EXECUTE FUNCTION desk_held_stays();
ALTER TABLE submissions_submission ENABLE ALWAYS TRIGGER desk_held_stays;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("desk", "0004_cases_guarded"),
        ("submissions", "0016_standing_in_the_queue"),
        ("governance", "0012_too_few_tasks"),
    ]

    operations = [
        legal_moves("submissions_submission", MOVES, name="submissions_submission_moves", initial="created"),
        migrations.RunSQL(STAYS, migrations.RunSQL.noop),
    ]
