"""What auditors ask for and are shown: exports, withheld entries, checks of stretches, and indexes to look things up."""

import django.contrib.postgres.indexes
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable

READERS = ["console", "sealed", "auditor"]
SHOWN = (
    "SELECT (id, organisation_id, asked_by, disclosed, state, requested_at, started_at, ended_at, size, shown, "
    "stored_bytes, manifest)"
)


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_reads_and_receipts")]

    operations = [
        migrations.CreateModel(
            name="Withholding",
            fields=[
                ("position", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("law", "a law or a court forbids to show it"),
                            ("person", "it would name a person"),
                            ("security", "it would open a way into the platform"),
                        ],
                        max_length=16,
                    ),
                ),
                ("asked_by", models.CharField(max_length=64)),
                ("agreed_by", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
            ],
            options={"db_table": "audit_withholding"},
        ),
        migrations.AddConstraint(
            "withholding",
            models.CheckConstraint(
                condition=models.Q(("asked_by", models.F("agreed_by")), _negated=True),
                name="withheld_by_two_people",
            ),
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("organisation_id", models.CharField(max_length=64)),
                ("asked_by", models.CharField(max_length=64)),
                ("disclosed", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "requested"),
                            ("running", "being made"),
                            ("done", "ready"),
                            ("failed", "failed"),
                        ],
                        default="requested",
                        max_length=16,
                    ),
                ),
                ("requested_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("size", models.BigIntegerField(blank=True, null=True)),
                ("shown", models.BigIntegerField(blank=True, null=True)),
                ("stored_bytes", models.BigIntegerField(blank=True, null=True)),
                ("manifest", models.CharField(blank=True, max_length=64)),
                ("key", models.BinaryField(blank=True, default=b"")),
            ],
            options={"db_table": "audit_export"},
        ),
        migrations.CreateModel(
            name="IntegrityCheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_index=True)),
                ("first", models.BigIntegerField()),
                ("last", models.BigIntegerField()),
                ("ok", models.BooleanField()),
                ("findings", models.JSONField(default=list)),
                ("drift_seconds", models.FloatField()),
            ],
            options={"db_table": "audit_integrity"},
        ),
        migrations.AddIndex("eventrecord", models.Index(fields=["kind", "id"], name="audit_event_kind")),
        migrations.AddIndex("eventrecord", models.Index(fields=["actor_id", "id"], name="audit_event_actor")),
        migrations.AddIndex(
            "eventrecord",
            django.contrib.postgres.indexes.BrinIndex(fields=["recorded_at"], name="audit_event_recorded"),
        ),
        immutable(
            "audit_withholding",
            name="audit_withholding_append_only",
            message="what is withheld stays withheld",
        ),
        grant("SELECT", ["audit_withholding", "audit_integrity"], READERS),
        grant("INSERT", ["audit_withholding"], ["console"]),
        grant("SELECT, INSERT", ["audit_export"], ["console"]),
        grant("SELECT, UPDATE", ["audit_export"], ["sealed"]),
        grant(SHOWN, ["audit_export"], ["auditor"]),
        grant("INSERT, DELETE", ["audit_integrity"], ["sealed"]),
    ]
