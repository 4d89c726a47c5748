"""Only what every reader can read becomes an event: an object of the form of event/1 that is nested 32 deep at most."""

from django.db import migrations

# What is appended stays, so one body that readers fail on would stop explorer, exports and checks for good.
# Types are named with their schema: a role could have made a domain of the same name in its temporary one.
FORM = """
CREATE OR REPLACE FUNCTION audit_event_derive() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  entry pg_catalog.jsonb := convert_from(NEW.body, 'UTF8')::pg_catalog.jsonb;
  subject pg_catalog.jsonb := entry -> 'subject';
  actor pg_catalog.jsonb := entry -> 'actor';
BEGIN
  IF (entry ->> 'schema' = 'event/1' AND octet_length(NEW.body) <= 16384
      AND jsonb_typeof(entry -> 'kind') = 'string' AND jsonb_typeof(entry -> 'outcome') = 'string'
      AND jsonb_typeof(entry -> 'time') = 'string' AND jsonb_typeof(entry -> 'version') = 'number'
      AND jsonb_typeof(entry -> 'data') = 'object'
      AND jsonb_typeof(subject -> 'type') = 'string' AND jsonb_typeof(subject -> 'id') = 'string'
      AND jsonb_typeof(actor -> 'kind') = 'string' AND jsonb_typeof(actor -> 'id') = 'string'
      AND jsonb_typeof(actor -> 'channel') = 'string'
      AND coalesce(jsonb_typeof(actor -> 'organisation'), 'string') = 'string'
      AND jsonb_typeof(entry -> 'nonce') = 'string' AND entry ->> 'nonce' ~ '^[0-9a-f]{32}$'
      AND NOT jsonb_path_exists(entry, '$.**{33}')) IS NOT TRUE THEN
    RAISE EXCEPTION 'not an audit event' USING ERRCODE = 'check_violation';
  END IF;
  NEW.leaf_hash := sha256('\\x00'::pg_catalog.bytea || NEW.body);
  NEW.kind := entry ->> 'kind';
  NEW.subject_type := subject ->> 'type';
  NEW.subject_id := subject ->> 'id';
  NEW.actor_kind := actor ->> 'kind';
  NEW.actor_id := actor ->> 'id';
  NEW.organisation_id := coalesce(actor ->> 'organisation', '');
  NEW.channel := actor ->> 'channel';
  NEW.outcome := entry ->> 'outcome';
  NEW.recorded_at := clock_timestamp();
  NEW.transaction := pg_current_xact_id()::pg_catalog.text::pg_catalog.int8;
  RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_for_auditors")]

    # Back again, the stricter form may stay: earlier code writes nothing else.
    operations = [migrations.RunSQL(FORM, migrations.RunSQL.noop)]
