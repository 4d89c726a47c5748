"""The public change log, and the fingerprints by which texts for vendors and the public are checked."""

import django.db.models.deletion
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable
from audit.governed import governed

LINE, INDEX = "records_changelogline", "records_leakindex"

# Only the errata document that a line came to stand in is noted later, once.
GUARDED = """
CREATE FUNCTION records_line_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.published_in_id IS NOT NULL OR NEW.published_in_id IS NULL
     OR to_jsonb(NEW) - 'published_in_id' IS DISTINCT FROM to_jsonb(OLD) - 'published_in_id' THEN
    RAISE EXCEPTION 'a public line never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER records_line_guard BEFORE UPDATE ON records_changelogline
  FOR EACH ROW EXECUTE FUNCTION records_line_guard();
ALTER TABLE records_changelogline ENABLE ALWAYS TRIGGER records_line_guard;
"""
UNGUARDED = """
DROP TRIGGER records_line_guard ON records_changelogline;
DROP FUNCTION records_line_guard();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("benchmark", "0004_commitments"),
        ("governance", "0006_confirmation_runs"),
    ]

    operations = [
        migrations.CreateModel(
            name="LeakIndex",
            fields=[
                (
                    "task_set",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="leak_index",
                        serialize=False,
                        to="benchmark.tasksetversion",
                    ),
                ),
                ("salt", models.BinaryField()),
                ("quotes", models.BinaryField()),
                ("values", models.BinaryField()),
                ("codes", models.BinaryField()),
                ("tasks", models.PositiveIntegerField()),
                ("made_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="ChangeLogLine",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("rotation", "rotation"),
                            ("retirement", "retirement"),
                            ("erratum", "erratum"),
                            ("regrade", "graded again"),
                            ("appeal_outcome", "outcome of an appeal"),
                            ("defect_known", "known defects"),
                            ("defect_settled", "defects settled"),
                            ("anchor_shift", "shift between versions"),
                            ("policy", "policy"),
                        ],
                        max_length=16,
                    ),
                ),
                ("facts", models.JSONField(default=dict)),
                ("text_zh", models.TextField(blank=True)),
                ("text_en", models.TextField(blank=True)),
                ("said_at", models.DateTimeField()),
                (
                    "published_in",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="change_log",
                        to="governance.releasedate",
                    ),
                ),
                (
                    "task_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="change_log",
                        to="benchmark.tasksetversion",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["task_set", "-said_at"], name="change_log_newest_first")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("text_en", ""), ("text_zh", "")),
                            models.Q(
                                models.Q(("text_zh", ""), _negated=True),
                                models.Q(("text_en", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="change_log_in_both_languages",
                    )
                ],
            },
        ),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(LINE, name="records_line_kept", message="public lines stay", operations="DELETE"),
        immutable(INDEX, name="records_index_immutable", message="fingerprints of a frozen version stay"),
        governed(LINE, subject="change_log_line"),
        governed(INDEX, subject="task_set", id_column="task_set_id"),
        grant("SELECT", [LINE], ["web", "sealed", "console", "auditor"]),
        grant("INSERT", [LINE], ["sealed", "console"]),
        grant("UPDATE (published_in_id)", [LINE], ["sealed"]),
        grant("SELECT", [INDEX], ["sealed", "console"]),
        grant("INSERT", [INDEX], ["sealed"]),
    ]
