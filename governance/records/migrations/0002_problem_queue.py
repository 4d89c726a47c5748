"""The problem queue, with its legal moves."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable, legal_moves
from audit.governed import governed

PROBLEM = "records_problem"
MOVES = {
    "reported": ("confirmed", "dismissed"),
    "confirmed": ("mended", "dismissed"),
    "mended": ("settled", "confirmed"),
}
MOVED = "UPDATE (state, state_since, due_at, escalated_at, reason, decided_by, fixed_in_id)"
GUARDED = """
CREATE FUNCTION records_problem_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.task_set_id, NEW.task_id, NEW.part, NEW.source, NEW.reference, NEW.evidence, NEW.reported_at)
       IS DISTINCT FROM
     (OLD.id, OLD.task_set_id, OLD.task_id, OLD.part, OLD.source, OLD.reference, OLD.evidence, OLD.reported_at) THEN
    RAISE EXCEPTION 'what was reported never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER records_problem_guard BEFORE UPDATE ON records_problem
  FOR EACH ROW EXECUTE FUNCTION records_problem_guard();
ALTER TABLE records_problem ENABLE ALWAYS TRIGGER records_problem_guard;
"""
UNGUARDED = """
DROP TRIGGER records_problem_guard ON records_problem;
DROP FUNCTION records_problem_guard();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("benchmark", "0004_commitments"),
        ("records", "0001_change_log_and_index"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Problem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("rules", "grading rules"),
                            ("data", "data of tasks"),
                            ("statement", "statements of tasks"),
                            ("gold", "reference answers"),
                            ("environment", "environment of runs"),
                            ("evaluator", "evaluator"),
                            ("documents", "published documents"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("staff", "staff"),
                            ("appeal", "an appeal"),
                            ("baseline", "the random baseline"),
                            ("audit", "an audit"),
                        ],
                        max_length=8,
                    ),
                ),
                ("reference", models.CharField(blank=True, max_length=64)),
                ("evidence", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("reported", "reported"),
                            ("confirmed", "confirmed"),
                            ("mended", "mended, waits for a version"),
                            ("settled", "settled"),
                            ("dismissed", "dismissed"),
                        ],
                        default="reported",
                        max_length=12,
                    ),
                ),
                ("state_since", models.DateTimeField()),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("escalated_at", models.DateTimeField(blank=True, null=True)),
                ("reason", models.TextField(blank=True)),
                ("reported_at", models.DateTimeField()),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="decided_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "fixed_in",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="benchmark.tasksetversion",
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="problems",
                        to="benchmark.taskrevision",
                    ),
                ),
                (
                    "task_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="problems",
                        to="benchmark.tasksetversion",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["task_set", "state"], name="problem_by_version")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["dismissed", "settled"]), ("due_at", None)),
                            models.Q(
                                models.Q(("state__in", ["dismissed", "settled"]), _negated=True),
                                ("due_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="problem_has_a_deadline",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("fixed_in__isnull", False), ("state", "settled")),
                            models.Q(models.Q(("state", "settled"), _negated=True), ("fixed_in", None)),
                            _connector="OR",
                        ),
                        name="problem_settled_by_a_version",
                    ),
                ],
            },
        ),
        legal_moves(PROBLEM, MOVES, name="records_problem_moves", initial="reported"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(PROBLEM, name="records_problem_kept", message="problems stay", operations="DELETE"),
        governed(PROBLEM, subject="problem"),
        grant("SELECT, INSERT", [PROBLEM], ["sealed", "console"]),
        grant(MOVED, [PROBLEM], ["sealed", "console"]),
        grant(
            "SELECT (id, task_set_id, source, part, state, state_since, due_at, escalated_at, fixed_in_id, "
            "reported_at)",
            [PROBLEM],
            ["auditor"],
        ),
    ]
