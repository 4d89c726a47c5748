"""Two people and 72 hours behind an opening, what never changes of it, who reads and writes, nothing without event."""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

OPENING, DELETION = "submissions_packageopening", "submissions_packagedeletion"
GUARDED = """
ALTER TABLE submissions_packageopening ADD CONSTRAINT opening_seventy_two_hours
  CHECK (closes_at <= approved_at + make_interval(hours => hours::int));
CREATE FUNCTION submissions_opening_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.submission_id, NEW.hours, NEW.reason, NEW.proposed_by, NEW.proposed_at)
       IS DISTINCT FROM (OLD.id, OLD.submission_id, OLD.hours, OLD.reason, OLD.proposed_by, OLD.proposed_at)
     OR OLD.approved_at IS NOT NULL AND (NEW.approved_by, NEW.approved_at, NEW.closes_at)
       IS DISTINCT FROM (OLD.approved_by, OLD.approved_at, OLD.closes_at)
     OR OLD.ended_at IS NOT NULL THEN
    RAISE EXCEPTION 'what was proposed, approved or ended never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER submissions_opening_fixed BEFORE UPDATE ON submissions_packageopening
  FOR EACH ROW EXECUTE FUNCTION submissions_opening_fixed();
ALTER TABLE submissions_packageopening ENABLE ALWAYS TRIGGER submissions_opening_fixed;
"""
UNGUARDED = """
DROP TRIGGER submissions_opening_fixed ON submissions_packageopening;
DROP FUNCTION submissions_opening_fixed();
ALTER TABLE submissions_packageopening DROP CONSTRAINT opening_seventy_two_hours;
"""


class Migration(migrations.Migration):
    dependencies = [("submissions", "0008_openings_of_packages")]

    operations = [
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(
            OPENING, name="submissions_opening_kept", message="openings stay on record", operations="DELETE"
        ),
        immutable(DELETION, name="submissions_deletion_kept", message="what was deleted stays deleted"),
        governed(OPENING, subject="package_opening"),
        governed(DELETION, subject="submission", id_column="submission_id"),
        grant("SELECT, INSERT", [OPENING], ["console"]),
        grant("UPDATE (approved_by, approved_at, closes_at, ended_at, boxed_key)", [OPENING], ["console"]),
        grant("SELECT, UPDATE (ended_at, boxed_key)", [OPENING], ["sealed"]),
        grant("SELECT", [DELETION], ["web", "console", "auditor"]),
        grant("SELECT, INSERT", [DELETION], ["sealed"]),
        grant(
            "SELECT (id, submission_id, hours, proposed_by, proposed_at, approved_by, approved_at, closes_at, ended_at)",
            [OPENING],
            ["auditor"],
        ),
    ]
