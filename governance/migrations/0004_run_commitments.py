"""The salted root over all runs behind a release, and the three kinds of entries that sealed work reads again."""

import django.db.models.deletion
from django.db import migrations, models

from audit.database import grant, immutable
from audit.governed import governed

TABLE = "governance_runcommitment"

# Sealed workers read no events. What they must prove or compare are the release of a submission, the freezing of a
# task set, and seeds committed beforehand: these kinds by subject, and nothing else.
ENTRY = """
CREATE FUNCTION governance_sealed_entry(wanted text, about text)
RETURNS TABLE (event_id bigint, entry_position bigint, body bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT event.id, entry.position, event.body
  FROM public.audit_event event LEFT JOIN public.audit_entry entry ON entry.event_id = event.id
  WHERE event.kind = wanted AND event.subject_id = about
    AND (wanted, event.subject_type) IN
      (('result.released', 'submission'), ('regrading.committed', 'submission'), ('task_set.frozen', 'task_set'))
  ORDER BY event.id
$$;
REVOKE ALL ON FUNCTION governance_sealed_entry(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION governance_sealed_entry(text, text) TO lingee_sealed;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("governance", "0003_governed"),
        ("submissions", "0002_guards_and_grants"),
        ("audit", "0002_transparency_log"),
    ]

    operations = [
        migrations.CreateModel(
            name="RunCommitment",
            fields=[
                (
                    "submission",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="run_commitment",
                        serialize=False,
                        to="submissions.submission",
                    ),
                ),
                ("root", models.CharField(max_length=64)),
                ("runs", models.PositiveIntegerField()),
                ("wrapped_secret", models.BinaryField()),
                ("made_at", models.DateTimeField()),
            ],
        ),
        immutable(TABLE, name="run_commitment_immutable", message="what was committed stays so"),
        governed(TABLE, subject="submission", id_column="submission_id"),
        grant("SELECT, INSERT", [TABLE], ["sealed"]),
        grant("SELECT (submission_id, root, runs, made_at)", [TABLE], ["console", "auditor"]),
        migrations.RunSQL(ENTRY, "DROP FUNCTION governance_sealed_entry(text, text);"),
    ]
