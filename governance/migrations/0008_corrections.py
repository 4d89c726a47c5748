"""Released results graded again, and the values shown as corrected."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable
from audit.governed import governed

ORDER, FOUND, CORRECTION = "governance_regrading", "governance_regradedrun", "governance_correction"
DONE = "UPDATE (done_at, runs, differences, root, wrapped_secret, grader)"

# An order is carried out once; what was ordered never changes.
GUARDED = """
CREATE FUNCTION governance_regrading_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.done_at IS NOT NULL
     OR (NEW.id, NEW.submission_id, NEW.run_id, NEW.cause, NEW.reference, NEW.ordered_by, NEW.approved_by, NEW.ordered_at)
          IS DISTINCT FROM
        (OLD.id, OLD.submission_id, OLD.run_id, OLD.cause, OLD.reference, OLD.ordered_by, OLD.approved_by, OLD.ordered_at)
  THEN
    RAISE EXCEPTION 'what was ordered or done never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER governance_regrading_guard BEFORE UPDATE ON governance_regrading
  FOR EACH ROW EXECUTE FUNCTION governance_regrading_guard();
ALTER TABLE governance_regrading ENABLE ALWAYS TRIGGER governance_regrading_guard;
"""
UNGUARDED = """
DROP TRIGGER governance_regrading_guard ON governance_regrading;
DROP FUNCTION governance_regrading_guard();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0008_answer_digest"),
        ("governance", "0007_errata_have_documents"),
        ("submissions", "0014_content_of_packages"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Regrading",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("ruling", "a ruling on an appeal"),
                            ("defect", "a defect that was settled"),
                        ],
                        max_length=8,
                    ),
                ),
                ("reference", models.CharField(blank=True, max_length=64)),
                ("ordered_at", models.DateTimeField()),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                ("runs", models.PositiveIntegerField(blank=True, null=True)),
                ("differences", models.PositiveIntegerField(blank=True, null=True)),
                ("root", models.CharField(blank=True, max_length=64)),
                ("wrapped_secret", models.BinaryField(blank=True, null=True)),
                ("grader", models.CharField(blank=True, max_length=64)),
                (
                    "approved_by",
                    models.ForeignKey(
                        db_column="approved_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "ordered_by",
                    models.ForeignKey(
                        db_column="ordered_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.evaluationrun",
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="regradings",
                        to="submissions.submission",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RegradedRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("score", models.DecimalField(decimal_places=10, max_digits=12)),
                ("success", models.BooleanField()),
                ("failure_type", models.CharField(blank=True, max_length=32)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evaluation.attempt"
                    ),
                ),
                (
                    "regrading",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="found",
                        to="governance.regrading",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Correction",
            fields=[
                (
                    "regrading",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="correction",
                        serialize=False,
                        to="governance.regrading",
                    ),
                ),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("ruling", "a ruling on an appeal"),
                            ("defect", "a defect that was settled"),
                        ],
                        max_length=8,
                    ),
                ),
                ("values", models.JSONField()),
                ("former", models.JSONField()),
                ("corrected_at", models.DateTimeField()),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="corrections",
                        to="submissions.submission",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="regrading",
            constraint=models.CheckConstraint(
                condition=models.Q(("ordered_by", models.F("approved_by")), _negated=True),
                name="regrading_two_people",
            ),
        ),
        migrations.AddConstraint(
            model_name="regrading",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("differences", None),
                        ("done_at", None),
                        ("grader", ""),
                        ("root", ""),
                        ("runs", None),
                        ("wrapped_secret", None),
                    ),
                    models.Q(
                        ("differences__isnull", False),
                        ("done_at__isnull", False),
                        ("runs__gte", 1),
                        ("wrapped_secret__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="regrading_done_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="regrading",
            constraint=models.UniqueConstraint(
                condition=models.Q(("done_at", None)), fields=("submission",), name="regrading_one_under_way"
            ),
        ),
        migrations.AddConstraint(
            model_name="regradedrun",
            constraint=models.UniqueConstraint(fields=("regrading", "attempt"), name="regraded_once"),
        ),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(ORDER, name="regrading_kept", message="orders stay on record", operations="DELETE"),
        immutable(FOUND, name="regraded_immutable", message="what grading found never changes"),
        immutable(CORRECTION, name="correction_immutable", message="what was shown never changes"),
        governed(ORDER, subject="regrading"),
        governed(FOUND, subject="regrading", id_column="regrading_id"),
        governed(CORRECTION, subject="submission", id_column="submission_id"),
        grant("SELECT (id, submission_id, run_id, cause, done_at)", [ORDER], ["web"]),
        grant("SELECT", [ORDER], ["sealed"]),
        grant(DONE, [ORDER], ["sealed"]),
        grant(
            "SELECT (id, submission_id, run_id, cause, reference, ordered_by, approved_by, ordered_at, done_at, runs, "
            "root, grader), INSERT",
            [ORDER],
            ["console"],
        ),
        grant(
            "SELECT (id, submission_id, run_id, cause, reference, ordered_by, approved_by, ordered_at, done_at, runs, "
            "root, grader)",
            [ORDER],
            ["auditor"],
        ),
        grant("SELECT, INSERT", [FOUND], ["sealed"]),
        grant("SELECT", [CORRECTION], ["web", "sealed", "console", "auditor"]),
        grant("INSERT", [CORRECTION], ["sealed"]),
    ]
