"""Counts of reads that change nothing between two events; and the two entries that a receipt may hold."""

from django.db import migrations, models

from audit.database import grant

# The vendor's process reads no event. For receipts it gets the bytes of these two kinds, once they have a place.
RECEIPTS = """
CREATE FUNCTION audit_receipt_entry(wanted text, submission text) RETURNS TABLE (place bigint, entry bytea)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT places.position, events.body
    FROM public.audit_event events JOIN public.audit_entry places ON places.event_id = events.id
   WHERE events.kind = wanted AND wanted IN ('submission.admitted', 'result.released')
     AND events.subject_type = 'submission' AND events.subject_id = submission
   ORDER BY events.id LIMIT 1
$$;
REVOKE ALL ON FUNCTION audit_receipt_entry(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_receipt_entry(text, text) TO lingee_web;
"""
TALLY = "audit_read_tally"


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_transparency_log")]

    operations = [
        migrations.CreateModel(
            name="ReadTally",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("actor_kind", models.CharField(max_length=16)),
                ("actor_id", models.CharField(max_length=64)),
                ("organisation_id", models.CharField(blank=True, max_length=64)),
                ("channel", models.CharField(max_length=16)),
                ("surface", models.CharField(max_length=64)),
                ("subject_type", models.CharField(max_length=32)),
                ("subject_id", models.CharField(blank=True, max_length=64)),
                ("begins_at", models.DateTimeField()),
                ("count", models.PositiveIntegerField()),
                ("representation", models.BinaryField()),
            ],
            options={"db_table": TALLY},
        ),
        migrations.AddConstraint(
            model_name="readtally",
            constraint=models.UniqueConstraint(
                fields=["actor_id", "organisation_id", "surface", "subject_type", "subject_id"],
                name="audit_read_tally_once",
            ),
        ),
        # Rows are updated in place again and again: room for that on each page.
        migrations.RunSQL(f"ALTER TABLE {TALLY} SET (fillfactor = 60);", migrations.RunSQL.noop),
        migrations.RunSQL(RECEIPTS, "DROP FUNCTION audit_receipt_entry(text, text);"),
        grant("SELECT, INSERT, UPDATE", [TALLY], ["web", "console"]),
        grant("SELECT, UPDATE (count)", [TALLY], ["sealed"]),
    ]
