"""A preflight on its own: a submission by its scope, without use, cooldown and held-out run, and never more than that.

The unique key of uploads becomes one over whole submissions: a preflight reads an upload without using it up.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

from audit.database import legal_moves
from audit.governed import governed, ungoverned
from submissions.policies.states import MOVES

ENDS = ("complete", "rejected", "preflight_passed", "preflight_failed", "cancelled", "incomplete", "voided")
OPEN = (
    *("created", "checking", "preflight", "queued", "running", "paused", "grading", "awaiting_choice"),
    "held",
)
HALTED = ("paused", "awaiting_choice", "held", *ENDS)
ALONE = (
    *("cancelled", "checking", "created", "preflight", "preflight_failed", "preflight_passed", "rejected"),
    "voided",
)
STATES = [
    ("created", "received"),
    ("checking", "being checked"),
    ("preflight", "preflight"),
    ("queued", "queued"),
    ("running", "running"),
    ("paused", "paused"),
    ("grading", "grading"),
    ("awaiting_choice", "waiting for your choice"),
    ("held", "held for review"),
    ("complete", "complete"),
    ("rejected", "rejected at intake"),
    ("preflight_passed", "preflight passed"),
    ("preflight_failed", "preflight failed"),
    ("cancelled", "cancelled"),
    ("incomplete", "incomplete"),
    ("voided", "voided"),
]
KEYS = """
CREATE OR REPLACE FUNCTION submissions_submission_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.organisation_id, NEW.harness_version_id, NEW.task_set_id, NEW.upload_id, NEW.package_digest,
      NEW.card_digest, NEW.protocol_version, NEW.evaluator_version, NEW.runs_per_task, NEW.admitted_at{scope})
       IS DISTINCT FROM
     (OLD.id, OLD.organisation_id, OLD.harness_version_id, OLD.task_set_id, OLD.upload_id, OLD.package_digest,
      OLD.card_digest, OLD.protocol_version, OLD.evaluator_version, OLD.runs_per_task, OLD.admitted_at{old}) THEN
    RAISE EXCEPTION 'what was admitted never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
"""
NO_SLOT = """
CREATE FUNCTION submissions_slot_of_submission() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT scope FROM public.submissions_submission WHERE id = NEW.submission_id) = 'preflight' THEN
    RAISE EXCEPTION 'a preflight has no slot' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION submissions_slot_of_submission() FROM PUBLIC;
CREATE TRIGGER submissions_slot_of_submission BEFORE INSERT ON submissions_slot
  FOR EACH ROW EXECUTE FUNCTION submissions_slot_of_submission();
ALTER TABLE submissions_slot ENABLE ALWAYS TRIGGER submissions_slot_of_submission;
"""
ANY_SLOT = """
DROP TRIGGER submissions_slot_of_submission ON submissions_slot; DROP FUNCTION submissions_slot_of_submission();
"""
TABLE_OF_MOVES = legal_moves(
    "submissions_submission", MOVES, name="submissions_submission_moves", initial="created"
)


class Migration(migrations.Migration):
    dependencies = [("submissions", "0012_owners_mail_given_up")]

    operations = [
        ungoverned("submissions_submission"),
        migrations.AddField(
            model_name="submission",
            name="scope",
            field=models.CharField(
                choices=[("full", "submission"), ("preflight", "preflight only")],
                default="full",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="submission",
            name="upload",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="submissions",
                to="submissions.upload",
            ),
        ),
        migrations.AlterField(
            model_name="submission",
            name="state",
            field=models.CharField(choices=STATES, default="created", max_length=20),
        ),
        migrations.AlterField(
            model_name="submissiontransition",
            name="state",
            field=models.CharField(choices=STATES, max_length=20),
        ),
        migrations.RemoveConstraint(model_name="submission", name="submission_state_known_and_end_dated"),
        migrations.RemoveConstraint(model_name="submission", name="halted_submission_says_why"),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=Q(state__in=ENDS, ended_at__isnull=False)
                | Q(state__in=OPEN, ended_at__isnull=True),
                name="submission_state_known_and_end_dated",
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=~Q(state__in=HALTED) | ~Q(reason_code=""), name="halted_submission_says_why"
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=(Q(scope="full") & ~Q(state="preflight_passed"))
                | Q(
                    scope="preflight",
                    state__in=ALONE,
                    canary_run__isnull=True,
                    held_out_run__isnull=True,
                    cooldown_until__isnull=True,
                    publication_consent=False,
                    runs_per_task=1,
                ),
                name="preflight_alone_goes_no_further",
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.UniqueConstraint(
                condition=Q(scope="full"), fields=("upload",), name="upload_used_by_one_submission"
            ),
        ),
        governed(
            "submissions_submission", subject="submission", besides=["check_lease", "check_lease_until"]
        ),
        migrations.RunSQL(TABLE_OF_MOVES.sql, migrations.RunSQL.noop),
        migrations.RunSQL(KEYS.format(scope=", NEW.scope", old=", OLD.scope"), KEYS.format(scope="", old="")),
        migrations.RunSQL(NO_SLOT, ANY_SLOT),
    ]
