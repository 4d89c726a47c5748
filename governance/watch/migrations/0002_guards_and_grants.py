"""Who reads what detection keeps, what never changes, and what changes with an event only."""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

LEVELS, EXAMINATION = "watch_detectionlevels", "watch_examination"
ALARM, EVIDENCE = "watch_alarm", "watch_alarmevidence"
BEHAVIOUR, MARKS, SHARE = "watch_behaviour", "watch_taskmarks", "watch_exposureshare"
GAP = "watch_gapfigure"

# A number is given once, and what was analysed stays so.
GUARDED = """
CREATE FUNCTION watch_examination_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.sequence IS NOT NULL OR NEW.submission_id <> OLD.submission_id THEN
    RAISE EXCEPTION 'an examination stays as it is once it is done'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER watch_examination_kept BEFORE UPDATE OR DELETE ON watch_examination
  FOR EACH ROW EXECUTE FUNCTION watch_examination_kept();
ALTER TABLE watch_examination ENABLE ALWAYS TRIGGER watch_examination_kept;
"""
UNGUARDED = """
DROP TRIGGER watch_examination_kept ON watch_examination;
DROP FUNCTION watch_examination_kept();
"""


class Migration(migrations.Migration):
    dependencies = [("watch", "0001_initial"), ("audit", "0004_for_auditors")]

    operations = [
        immutable(
            LEVELS, name="detection_levels_immutable", message="levels are never changed, only followed"
        ),
        immutable(BEHAVIOUR, name="behaviour_immutable", message="what a run did stays as it was"),
        immutable(MARKS, name="task_marks_immutable", message="what an analysis marked stays marked"),
        immutable(GAP, name="gap_figure_immutable", message="a figure stays as it was measured"),
        immutable(SHARE, name="exposure_share_immutable", message="what was told stays told"),
        immutable(ALARM, name="alarm_immutable", message="an alarm that was raised stays raised"),
        immutable(EVIDENCE, name="alarm_evidence_immutable", message="evidence never changes"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        governed(LEVELS, subject="detection_levels"),
        governed(EXAMINATION, subject="submission", id_column="submission_id"),
        governed(ALARM, subject="alarm"),
        governed(EVIDENCE, subject="alarm", id_column="alarm_id"),
        grant("SELECT", [LEVELS, EXAMINATION, ALARM], ["console", "auditor"]),
        grant("SELECT", [EVIDENCE, MARKS, GAP, SHARE], ["console"]),
        grant("SELECT, INSERT", [LEVELS, BEHAVIOUR, MARKS, GAP, SHARE, ALARM, EVIDENCE], ["sealed"]),
        grant("SELECT, INSERT, UPDATE", [EXAMINATION], ["sealed"]),
    ]
