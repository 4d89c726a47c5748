"""After freezing the database refuses every change to a version and its tasks; grants by kind of process."""

from django.db import migrations

from audit.database import grant

CONTENT = ["benchmark_taskrevision", "benchmark_assetpack", "benchmark_publictask"]
EXECUTE_COLUMNS = (
    'SELECT (id, version_id, domain, "group", turns, budget_seconds, budget_steps, budget_tokens, '
    "environment_pack_id, environment_offset, environment_size)"
)

FREEZE = """
CREATE FUNCTION benchmark_frozen_content() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE touched uuid[] := CASE TG_OP WHEN 'INSERT' THEN ARRAY[NEW.version_id]
                                     WHEN 'DELETE' THEN ARRAY[OLD.version_id]
                                     ELSE ARRAY[NEW.version_id, OLD.version_id] END;
BEGIN
  PERFORM 1 FROM benchmark_tasksetversion WHERE id = ANY (touched) AND state = 'frozen';
  IF FOUND THEN
    RAISE EXCEPTION 'this task-set version is frozen' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE FUNCTION benchmark_frozen_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'frozen' AND (TG_OP = 'DELETE' OR
     (to_jsonb(NEW) - 'opened_at' - 'closed_at') <> (to_jsonb(OLD) - 'opened_at' - 'closed_at')) THEN
    RAISE EXCEPTION 'this task-set version is frozen' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE FUNCTION benchmark_no_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'task-set versions are never truncated' USING ERRCODE = 'integrity_constraint_violation'; END $$;
CREATE TRIGGER benchmark_frozen BEFORE UPDATE OR DELETE ON benchmark_tasksetversion
  FOR EACH ROW EXECUTE FUNCTION benchmark_frozen_version();
ALTER TABLE benchmark_tasksetversion ENABLE ALWAYS TRIGGER benchmark_frozen;
CREATE TRIGGER benchmark_no_truncate BEFORE TRUNCATE ON benchmark_tasksetversion
  FOR EACH STATEMENT EXECUTE FUNCTION benchmark_no_truncate();
""" + "".join(
    f"""
CREATE TRIGGER benchmark_frozen BEFORE INSERT OR UPDATE OR DELETE ON {table}
  FOR EACH ROW EXECUTE FUNCTION benchmark_frozen_content();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER benchmark_frozen;
CREATE TRIGGER benchmark_no_truncate BEFORE TRUNCATE ON {table}
  FOR EACH STATEMENT EXECUTE FUNCTION benchmark_no_truncate();
"""
    for table in CONTENT
)
THAW = (
    "".join(
        f"DROP TRIGGER benchmark_frozen ON {table}; DROP TRIGGER benchmark_no_truncate ON {table};"
        for table in ["benchmark_tasksetversion", *CONTENT]
    )
    + "DROP FUNCTION benchmark_frozen_content(), benchmark_frozen_version(), benchmark_no_truncate();"
)


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0001_initial"), ("audit", "0001_initial")]

    operations = [
        migrations.RunSQL(FREEZE, THAW),
        grant("SELECT", ["benchmark_tasksetversion", "benchmark_publictask"], ["web", "auditor"]),
        grant("SELECT", ["benchmark_tasksetversion", "benchmark_assetpack"], ["execute"]),
        grant(EXECUTE_COLUMNS, ["benchmark_taskrevision"], ["execute"]),
        grant("SELECT, INSERT, UPDATE, DELETE", ["benchmark_tasksetversion", *CONTENT], ["sealed"]),
        grant("SELECT", ["benchmark_tasksetversion", *CONTENT], ["console"]),
    ]
