"""The database's own guard over states, the ledger and what never changes; and who may read and write what."""

from django.db import migrations

from audit.database import grant, immutable, legal_moves
from submissions.policies.states import MOVES, SLOT_MOVES, UPLOAD_MOVES

REGISTRY = ["submissions_harness", "submissions_harnessversion"]
MOVING = ["submissions_upload", "submissions_submission", "submissions_slot"]
RULES = ["submissions_quotapolicy", "submissions_admissionstop"]
COUNTER = "submissions_quotacounter"
TRANSITION = "submissions_submissiontransition"
IDEMPOTENCY = "submissions_idempotencyrecord"
EVERYTHING = [*REGISTRY, *MOVING, *RULES, COUNTER, TRANSITION]

KEEP_KEYS = """
CREATE FUNCTION submissions_slot_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.submission_id, NEW.task_set_id, NEW.line_id, NEW.lineage_id, NEW.reserved_at)
       IS DISTINCT FROM (OLD.id, OLD.submission_id, OLD.task_set_id, OLD.line_id, OLD.lineage_id, OLD.reserved_at)
     OR NEW.account_id IS DISTINCT FROM OLD.account_id THEN
    RAISE EXCEPTION 'whose slot it is never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER submissions_slot_keys BEFORE UPDATE ON submissions_slot
  FOR EACH ROW EXECUTE FUNCTION submissions_slot_keys();
ALTER TABLE submissions_slot ENABLE ALWAYS TRIGGER submissions_slot_keys;
CREATE FUNCTION submissions_submission_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.organisation_id, NEW.harness_version_id, NEW.task_set_id, NEW.upload_id, NEW.package_digest,
      NEW.card_digest, NEW.protocol_version, NEW.evaluator_version, NEW.runs_per_task, NEW.admitted_at)
       IS DISTINCT FROM
     (OLD.id, OLD.organisation_id, OLD.harness_version_id, OLD.task_set_id, OLD.upload_id, OLD.package_digest,
      OLD.card_digest, OLD.protocol_version, OLD.evaluator_version, OLD.runs_per_task, OLD.admitted_at) THEN
    RAISE EXCEPTION 'what was admitted never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER submissions_submission_keys BEFORE UPDATE ON submissions_submission
  FOR EACH ROW EXECUTE FUNCTION submissions_submission_keys();
ALTER TABLE submissions_submission ENABLE ALWAYS TRIGGER submissions_submission_keys;
"""
FORGET_KEYS = """
DROP TRIGGER submissions_slot_keys ON submissions_slot; DROP FUNCTION submissions_slot_keys();
DROP TRIGGER submissions_submission_keys ON submissions_submission; DROP FUNCTION submissions_submission_keys();
"""


class Migration(migrations.Migration):
    dependencies = [("submissions", "0001_initial"), ("audit", "0001_initial")]

    operations = [
        legal_moves("submissions_submission", MOVES, name="submissions_submission_moves", initial="created"),
        legal_moves("submissions_slot", SLOT_MOVES, name="submissions_slot_moves", initial="reserved"),
        legal_moves("submissions_upload", UPLOAD_MOVES, name="submissions_upload_moves", initial="open"),
        immutable(
            "submissions_harnessversion",
            name="submissions_version_immutable",
            message="a harness version never changes",
        ),
        immutable(
            "submissions_quotapolicy",
            name="submissions_policy_immutable",
            message="a policy row never changes",
        ),
        immutable(TRANSITION, name="submissions_transition_immutable", message="a transition never changes"),
        immutable(
            "submissions_slot",
            name="submissions_slot_kept",
            message="a slot stays on record",
            operations="DELETE",
        ),
        immutable(
            "submissions_submission",
            name="submissions_submission_kept",
            message="a submission stays on record",
            operations="DELETE",
        ),
        migrations.RunSQL(KEEP_KEYS, FORGET_KEYS),
        grant("SELECT, INSERT", [*REGISTRY, TRANSITION], ["web", "sealed"]),
        grant("UPDATE (title)", ["submissions_harness"], ["web"]),
        grant("SELECT, INSERT, UPDATE", [*MOVING, COUNTER], ["web", "sealed"]),
        grant("SELECT, INSERT, UPDATE, DELETE", [IDEMPOTENCY], ["web", "sealed"]),
        grant("SELECT", RULES, ["web"]),
        grant("SELECT, INSERT, UPDATE", ["submissions_admissionstop"], ["sealed", "console"]),
        grant("SELECT, INSERT", ["submissions_quotapolicy"], ["sealed", "console"]),
        grant("SELECT", EVERYTHING, ["console"]),
        grant("INSERT", [TRANSITION], ["console"]),
        grant("UPDATE", ["submissions_submission", "submissions_slot"], ["console"]),
        grant("SELECT", ["submissions_submission", "submissions_slot", *RULES, TRANSITION], ["auditor"]),
    ]
