"""Database roles, and the event table that only grows."""

from django.db import migrations, models

from audit.database import APP_ROLES, create_roles, grant, immutable

DERIVE = """
CREATE FUNCTION audit_event_derive() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE entry jsonb := convert_from(NEW.body, 'UTF8')::jsonb;
BEGIN
  IF entry ->> 'schema' IS DISTINCT FROM 'event/1' OR octet_length(NEW.body) > 16384 THEN
    RAISE EXCEPTION 'not an audit event' USING ERRCODE = 'check_violation';
  END IF;
  NEW.leaf_hash := sha256('\\x00'::bytea || NEW.body);
  NEW.kind := entry ->> 'kind';
  NEW.subject_type := entry -> 'subject' ->> 'type';
  NEW.subject_id := entry -> 'subject' ->> 'id';
  NEW.actor_kind := entry -> 'actor' ->> 'kind';
  NEW.actor_id := entry -> 'actor' ->> 'id';
  NEW.organisation_id := coalesce(entry -> 'actor' ->> 'organisation', '');
  NEW.channel := entry -> 'actor' ->> 'channel';
  NEW.outcome := entry ->> 'outcome';
  NEW.recorded_at := clock_timestamp();
  NEW.transaction := pg_current_xact_id()::text::bigint;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_event_derive BEFORE INSERT ON audit_event
  FOR EACH ROW EXECUTE FUNCTION audit_event_derive();
ALTER TABLE audit_event ENABLE ALWAYS TRIGGER audit_event_derive;
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = []

    operations = [
        create_roles(),
        migrations.CreateModel(
            name="EventRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("body", models.BinaryField()),
                ("leaf_hash", models.BinaryField()),
                ("kind", models.CharField(max_length=64)),
                ("subject_type", models.CharField(max_length=32)),
                ("subject_id", models.CharField(max_length=64)),
                ("actor_kind", models.CharField(max_length=16)),
                ("actor_id", models.CharField(max_length=64)),
                ("organisation_id", models.CharField(blank=True, max_length=64)),
                ("channel", models.CharField(max_length=16)),
                ("outcome", models.CharField(max_length=32)),
                ("recorded_at", models.DateTimeField()),
                ("transaction", models.BigIntegerField()),
            ],
            options={
                "db_table": "audit_event",
                "indexes": [
                    models.Index(fields=["subject_type", "subject_id"], name="audit_event_subject"),
                    models.Index(fields=["organisation_id", "id"], name="audit_event_organisation"),
                ],
            },
        ),
        migrations.RunSQL(
            DERIVE, "DROP TRIGGER audit_event_derive ON audit_event; DROP FUNCTION audit_event_derive();"
        ),
        immutable("audit_event", name="audit_event_append_only", message="the audit log is append-only"),
        grant("SELECT (id), INSERT (body)", ["audit_event"], APP_ROLES),
        grant("SELECT", ["audit_event"], ["auditor"]),
    ]
