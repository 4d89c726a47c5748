"""The tree over the events: what waits for a place, the places, full tiles, checkpoints, keys and witnesses."""

import django.db.models.deletion
from django.db import migrations, models

import config.ids
from audit.database import create_roles, grant, immutable

READERS = ["web", "sealed", "console", "auditor"]
ONLY_GROW = {
    "audit_entry": "an entry keeps its place",
    "audit_tile": "a full tile never changes",
    "audit_checkpoint": "what was signed stays signed",
    "audit_log_key": "a key of the log stays known",
    "audit_witness": "a witness stays known",
    "audit_cosignature": "a cosignature stays",
}

# As the owner, because no other role may write to the table. Nobody may execute the function: with it as the
# trigger of a table of their own, they could put any number among the events that wait.
PENDING = """
CREATE FUNCTION audit_event_pending() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.audit_pending (event_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION audit_event_pending() FROM PUBLIC;
CREATE TRIGGER audit_event_pending AFTER INSERT ON audit_event
  FOR EACH ROW EXECUTE FUNCTION audit_event_pending();
ALTER TABLE audit_event ENABLE ALWAYS TRIGGER audit_event_pending;
INSERT INTO audit_pending (event_id) SELECT id FROM audit_event;
"""

# Nothing stops waiting without a place: taking away and placing are one statement of the sequencer.
TAKEN = """
CREATE FUNCTION audit_pending_taken() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM taken LEFT JOIN audit_entry entry USING (event_id) WHERE entry.position IS NULL) THEN
    RAISE EXCEPTION 'an event stops waiting only with a place in the log'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_pending_taken AFTER DELETE ON audit_pending REFERENCING OLD TABLE AS taken
  FOR EACH STATEMENT EXECUTE FUNCTION audit_pending_taken();
ALTER TABLE audit_pending ENABLE ALWAYS TRIGGER audit_pending_taken;
"""

# Whatever is added continues the log without a gap, with the hash that the event itself has.
CONTINUED = """
CREATE FUNCTION audit_entry_continued() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE low bigint; high bigint; amount bigint; before bigint;
BEGIN
  SELECT min(position), max(position), count(*) INTO low, high, amount FROM added;
  IF amount = 0 THEN
    RETURN NULL;
  END IF;
  SELECT coalesce(max(position), -1) INTO before FROM audit_entry WHERE position < low;
  IF low <> before + 1 OR high - low + 1 <> amount THEN
    RAISE EXCEPTION 'positions % to % do not continue the log after %', low, high, before
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF EXISTS (SELECT FROM added LEFT JOIN audit_event event ON event.id = added.event_id
             WHERE event.leaf_hash IS DISTINCT FROM added.leaf_hash) THEN
    RAISE EXCEPTION 'an entry has the leaf hash of its event' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_entry_continued AFTER INSERT ON audit_entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION audit_entry_continued();
ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER audit_entry_continued;
"""

GROWING = """
CREATE FUNCTION audit_checkpoint_growing() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM audit_checkpoint WHERE size >= NEW.size)
     OR NOT EXISTS (SELECT FROM audit_entry WHERE position = NEW.size - 1) OR octet_length(NEW.root) <> 32 THEN
    RAISE EXCEPTION 'a checkpoint of % entries does not follow', NEW.size
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_checkpoint_growing BEFORE INSERT ON audit_checkpoint
  FOR EACH ROW EXECUTE FUNCTION audit_checkpoint_growing();
ALTER TABLE audit_checkpoint ENABLE ALWAYS TRIGGER audit_checkpoint_growing;
"""


def guard(statements: str, name: str, table: str) -> migrations.RunSQL:
    return migrations.RunSQL(statements, f"DROP TRIGGER {name} ON {table}; DROP FUNCTION {name}();")


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        create_roles(),
        migrations.CreateModel(
            name="Pending",
            fields=[("event_id", models.BigIntegerField(primary_key=True, serialize=False))],
            options={"db_table": "audit_pending"},
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("position", models.BigIntegerField(primary_key=True, serialize=False)),
                ("event_id", models.BigIntegerField(unique=True)),
                ("leaf_hash", models.BinaryField()),
            ],
            options={"db_table": "audit_entry"},
        ),
        migrations.CreateModel(
            name="Tile",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "level", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("level", models.SmallIntegerField()),
                ("number", models.BigIntegerField()),
                ("hashes", models.BinaryField()),
                ("root", models.BinaryField()),
            ],
            options={"db_table": "audit_tile"},
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                ("size", models.BigIntegerField(primary_key=True, serialize=False)),
                ("root", models.BinaryField()),
                ("note", models.TextField()),
                ("made_at", models.DateTimeField(db_index=True)),
            ],
            options={"db_table": "audit_checkpoint"},
        ),
        migrations.CreateModel(
            name="LogKey",
            fields=[
                ("vkey", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=128)),
                ("since_size", models.BigIntegerField()),
            ],
            options={"db_table": "audit_log_key"},
        ),
        migrations.CreateModel(
            name="Witness",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=128, unique=True)),
                ("vkey", models.CharField(max_length=255, unique=True)),
                ("added_at", models.DateTimeField()),
            ],
            options={"db_table": "audit_witness"},
        ),
        migrations.CreateModel(
            name="Cosignature",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "checkpoint",
                    models.ForeignKey(
                        db_column="size",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cosignatures",
                        to="audit.checkpoint",
                    ),
                ),
                (
                    "witness",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cosignatures",
                        to="audit.witness",
                    ),
                ),
                ("line", models.TextField()),
                ("signed_at", models.DateTimeField()),
                ("received_at", models.DateTimeField()),
            ],
            options={"db_table": "audit_cosignature"},
        ),
        migrations.AddConstraint(
            model_name="cosignature",
            constraint=models.UniqueConstraint(
                fields=("checkpoint", "witness"), name="audit_cosignature_once"
            ),
        ),
        # With the transaction at its end, the deferred triggers find an event of a busy subject at once.
        migrations.RemoveIndex(model_name="eventrecord", name="audit_event_subject"),
        migrations.AddIndex(
            model_name="eventrecord",
            index=models.Index(
                fields=["subject_type", "subject_id", "transaction"], name="audit_event_subject"
            ),
        ),
        guard(PENDING, "audit_event_pending", "audit_event"),
        guard(TAKEN, "audit_pending_taken", "audit_pending"),
        guard(CONTINUED, "audit_entry_continued", "audit_entry"),
        guard(GROWING, "audit_checkpoint_growing", "audit_checkpoint"),
        immutable(
            "audit_pending",
            name="audit_pending_kept",
            message="what waits for the log is taken by the sequencer only",
            operations="UPDATE",
        ),
        *(
            immutable(table, name=f"{table}_append_only", message=message)
            for table, message in ONLY_GROW.items()
        ),
        grant("SELECT (id, leaf_hash)", ["audit_event"], ["sequencer"]),
        grant("SELECT, DELETE", ["audit_pending"], ["sequencer"]),
        grant(
            "SELECT, INSERT",
            ["audit_entry", "audit_tile", "audit_checkpoint", "audit_log_key"],
            ["sequencer"],
        ),
        grant("SELECT", ["audit_entry", "audit_tile", "audit_checkpoint", "audit_log_key"], READERS),
        grant("SELECT", ["audit_witness", "audit_cosignature"], READERS),
        grant("SELECT", ["audit_pending"], ["auditor", "console"]),
        grant("INSERT", ["audit_witness"], ["console"]),
        grant("INSERT", ["audit_cosignature"], ["web", "console"]),
    ]
