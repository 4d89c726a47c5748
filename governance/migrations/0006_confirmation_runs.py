"""Confirmation runs with their legal moves, what they gave, and the calendar of dated releases."""

import django.db.models.deletion
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable, legal_moves
from audit.governed import governed

RUN, RESULT, DATE = (
    "governance_confirmationrun",
    "governance_confirmationresult",
    "governance_releasedate",
)
MOVES = {
    "requested": ("queued", "incomplete", "withdrawn"),
    "queued": ("running", "incomplete", "withdrawn"),
    "running": ("grading", "incomplete", "withdrawn"),
    "grading": ("confirmed", "incomplete", "withdrawn"),
    "confirmed": ("withdrawn",),
}
MOVED = "UPDATE (state, state_since, cause, ended_at, run_id, rerun_since, rerun_count, next_rerun_at, release_date_id)"

# What was asked for never changes, nor anything once a dated release has taken place.
GUARDED = """
CREATE FUNCTION governance_confirmation_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.submission_id, NEW.harness_id, NEW.task_set_id, NEW.number, NEW.requested_at)
       IS DISTINCT FROM (OLD.id, OLD.submission_id, OLD.harness_id, OLD.task_set_id, OLD.number, OLD.requested_at)
     OR (OLD.run_id IS NOT NULL AND NEW.run_id IS DISTINCT FROM OLD.run_id)
     OR OLD.release_date_id IS NOT NULL THEN
    RAISE EXCEPTION 'what was asked for, run or published never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER governance_confirmation_guard BEFORE UPDATE ON governance_confirmationrun
  FOR EACH ROW EXECUTE FUNCTION governance_confirmation_guard();
ALTER TABLE governance_confirmationrun ENABLE ALWAYS TRIGGER governance_confirmation_guard;
CREATE FUNCTION governance_release_date_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.dated_at IS NOT NULL OR (NEW.id, NEW.label, NEW.kind, NEW.planned_for)
       IS DISTINCT FROM (OLD.id, OLD.label, OLD.kind, OLD.planned_for) THEN
    RAISE EXCEPTION 'a date that was announced, or has taken place, never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER governance_release_date_guard BEFORE UPDATE ON governance_releasedate
  FOR EACH ROW EXECUTE FUNCTION governance_release_date_guard();
ALTER TABLE governance_releasedate ENABLE ALWAYS TRIGGER governance_release_date_guard;
"""
UNGUARDED = """
DROP TRIGGER governance_release_date_guard ON governance_releasedate;
DROP FUNCTION governance_release_date_guard();
DROP TRIGGER governance_confirmation_guard ON governance_confirmationrun;
DROP FUNCTION governance_confirmation_guard();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("benchmark", "0004_commitments"),
        ("evaluation", "0008_answer_digest"),
        ("governance", "0005_leak_ledger"),
        ("submissions", "0014_content_of_packages"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReleaseDate",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("label", models.SlugField(max_length=40, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("results", "comparable results"), ("errata", "errata")],
                        default="results",
                        max_length=8,
                    ),
                ),
                ("planned_for", models.DateTimeField()),
                ("dated_at", models.DateTimeField(blank=True, null=True)),
                ("document", models.TextField(blank=True)),
                ("sha256", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("dated_at", None), ("document", ""), ("sha256", "")),
                            models.Q(
                                ("dated_at__isnull", False),
                                ("document", ""),
                                ("kind", "errata"),
                                ("sha256", ""),
                            ),
                            models.Q(
                                ("dated_at__isnull", False),
                                ("kind", "results"),
                                models.Q(("document", ""), _negated=True),
                                models.Q(("sha256", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="release_date_has_its_document",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ConfirmationRun",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveSmallIntegerField(default=1)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "requested"),
                            ("queued", "queued"),
                            ("running", "running"),
                            ("grading", "being graded"),
                            ("confirmed", "confirmed"),
                            ("incomplete", "incomplete"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="requested",
                        max_length=12,
                    ),
                ),
                ("state_since", models.DateTimeField()),
                (
                    "cause",
                    models.CharField(default="asked", max_length=24),
                ),
                ("requested_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("rerun_since", models.DateTimeField(blank=True, null=True)),
                ("rerun_count", models.PositiveSmallIntegerField(default=0)),
                ("next_rerun_at", models.DateTimeField(blank=True, null=True)),
                (
                    "harness",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="submissions.harness",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.evaluationrun",
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="confirmations",
                        to="submissions.submission",
                    ),
                ),
                (
                    "task_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="benchmark.tasksetversion",
                    ),
                ),
                (
                    "release_date",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="confirmations",
                        to="governance.releasedate",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ConfirmationResult",
            fields=[
                (
                    "confirmation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="result",
                        serialize=False,
                        to="governance.confirmationrun",
                    ),
                ),
                ("values", models.JSONField()),
                ("sides", models.JSONField()),
                ("coverage", models.CharField(max_length=8)),
                ("root", models.CharField(max_length=64)),
                ("runs", models.PositiveIntegerField()),
                ("wrapped_secret", models.BinaryField()),
                ("made_at", models.DateTimeField()),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="governance.releasepolicy",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="confirmationrun",
            index=models.Index(
                condition=models.Q(("release_date", None)), fields=["state"], name="confirmation_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="confirmationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("ended_at__isnull", False), ("state__in", ["confirmed", "incomplete", "withdrawn"])
                    ),
                    models.Q(
                        ("ended_at", None), ("state__in", ("requested", "queued", "running", "grading"))
                    ),
                    _connector="OR",
                ),
                name="confirmation_end_dated",
            ),
        ),
        migrations.AddConstraint(
            model_name="confirmationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ("running", "grading", "confirmed")), _negated=True),
                    ("run__isnull", False),
                    _connector="OR",
                ),
                name="confirmation_under_way_has_run",
            ),
        ),
        migrations.AddConstraint(
            model_name="confirmationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("release_date", None), ("state__in", ("confirmed", "withdrawn")), _connector="OR"
                ),
                name="confirmation_dated_once_it_ended",
            ),
        ),
        migrations.AddConstraint(
            model_name="confirmationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1), ("number__lte", 2)), name="confirmation_number_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="confirmationrun",
            constraint=models.UniqueConstraint(
                fields=("harness", "task_set", "number"), name="confirmation_numbered_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="confirmationrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "incomplete"), _negated=True),
                fields=("harness", "task_set"),
                name="confirmation_once_a_line_and_version",
            ),
        ),
        legal_moves(RUN, MOVES, name="confirmation_legal_moves", initial="requested"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(
            RUN, name="confirmation_kept", message="confirmation runs stay on record", operations="DELETE"
        ),
        immutable(
            DATE, name="release_date_kept", message="dates of the calendar stay there", operations="DELETE"
        ),
        immutable(RESULT, name="confirmation_result_immutable", message="what was sealed never changes"),
        governed(RUN, subject="confirmation"),
        governed(RESULT, subject="confirmation", id_column="confirmation_id"),
        governed(DATE, subject="release_date"),
        grant("SELECT", [RUN, DATE], ["web", "sealed", "console", "auditor"]),
        grant("INSERT, UPDATE (state, state_since, cause, ended_at)", [RUN], ["web"]),
        grant(MOVED, [RUN], ["sealed"]),
        grant("INSERT, UPDATE (dated_at, document, sha256)", [DATE], ["sealed"]),
        grant("SELECT, INSERT", [RESULT], ["sealed"]),
        grant("SELECT (confirmation_id, root, runs, made_at)", [RESULT], ["console", "auditor"]),
    ]
