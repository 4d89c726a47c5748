"""An owner's 14 days, what never changes, who reads and writes it, and that nothing goes without an event."""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

OWNER, NOTICE = "submissions_harnessowner", "submissions_ownernotice"
GUARDED = """
ALTER TABLE submissions_ownernotice ADD CONSTRAINT owner_notice_fourteen_days
  CHECK (publishable_from >= sent_at + interval '14 days');
CREATE FUNCTION submissions_owner_notice_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.submission_id, NEW.ordered_by, NEW.ordered_at)
       IS DISTINCT FROM (OLD.id, OLD.submission_id, OLD.ordered_by, OLD.ordered_at)
     OR OLD.sent_at IS NOT NULL
       AND (NEW.sent_at, NEW.publishable_from) IS DISTINCT FROM (OLD.sent_at, OLD.publishable_from)
     OR OLD.objected_at IS NOT NULL THEN
    RAISE EXCEPTION 'what an owner was told, and said, never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER submissions_owner_notice_fixed BEFORE UPDATE ON submissions_ownernotice
  FOR EACH ROW EXECUTE FUNCTION submissions_owner_notice_fixed();
ALTER TABLE submissions_ownernotice ENABLE ALWAYS TRIGGER submissions_owner_notice_fixed;
"""
UNGUARDED = """
DROP TRIGGER submissions_owner_notice_fixed ON submissions_ownernotice;
DROP FUNCTION submissions_owner_notice_fixed();
ALTER TABLE submissions_ownernotice DROP CONSTRAINT owner_notice_fourteen_days;
"""


class Migration(migrations.Migration):
    dependencies = [("submissions", "0005_owners_of_harnesses")]

    operations = [
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(OWNER, name="submissions_owner_kept", message="who owns a harness was named once"),
        immutable(
            NOTICE,
            name="submissions_owner_notice_kept",
            message="what an owner was told stays on record",
            operations="DELETE",
        ),
        governed(OWNER, subject="harness", id_column="harness_id"),
        governed(NOTICE, subject="submission", id_column="submission_id"),
        grant("SELECT, INSERT", [OWNER], ["web"]),
        grant("SELECT", [OWNER], ["console"]),
        grant("SELECT, UPDATE (sent_at, publishable_from)", [NOTICE], ["web"]),
        grant("SELECT, INSERT, UPDATE (objected_at, objection)", [NOTICE], ["console"]),
        grant("SELECT", [NOTICE], ["sealed"]),
        grant("SELECT (harness_id)", [OWNER], ["sealed"]),
        grant("SELECT (submission_id, sent_at, publishable_from, objected_at)", [NOTICE], ["auditor"]),
    ]
