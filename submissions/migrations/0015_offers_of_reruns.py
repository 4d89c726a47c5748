"""Offers of re-runs, and slots that take one: outside the quota, and only while the offer is theirs."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

import config.ids
from audit.database import grant, immutable, legal_moves
from audit.governed import governed, ungoverned
from submissions.policies.reruns import MOVES

OFFER, SLOT = "submissions_rerunoffer", "submissions_slot"
STATES = [("open", "open"), ("used", "used"), ("expired", "expired"), ("withdrawn", "withdrawn")]
MOVED = "(state, submission_id, expires_at, used_at, ended_at)"
GUARDED = """
CREATE FUNCTION submissions_offer_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NOT EXISTS (SELECT FROM public.submissions_submission f
       WHERE f.id = NEW.former_id AND f.scope = 'full' AND f.state = 'complete'
         AND f.organisation_id = NEW.organisation_id AND f.harness_version_id = NEW.harness_version_id
         AND f.package_digest = NEW.package_digest AND f.task_set_id <> NEW.task_set_id) THEN
      RAISE EXCEPTION 'an offer is of a complete submission to another version'
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.former_id, NEW.task_set_id, NEW.organisation_id, NEW.harness_version_id, NEW.package_digest,
      NEW.offered_at) IS DISTINCT FROM
     (OLD.id, OLD.former_id, OLD.task_set_id, OLD.organisation_id, OLD.harness_version_id, OLD.package_digest,
      OLD.offered_at) THEN
    RAISE EXCEPTION 'what was offered never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.state = OLD.state AND NEW.submission_id IS DISTINCT FROM OLD.submission_id THEN
    RAISE EXCEPTION 'an offer that is used is not passed on' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.expires_at <> OLD.expires_at AND
     NOT (OLD.state = 'used' AND NEW.state = 'open' AND NEW.expires_at > OLD.expires_at) THEN
    RAISE EXCEPTION 'an offer stands longer only once it opens again'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.state = 'open' AND NEW.state = 'used' AND NOT EXISTS (SELECT FROM public.submissions_submission s
     WHERE s.id = NEW.submission_id AND s.scope = 'full' AND s.organisation_id = NEW.organisation_id
       AND s.task_set_id = NEW.task_set_id AND s.harness_version_id = NEW.harness_version_id
       AND s.package_digest = NEW.package_digest AND s.cooldown_until IS NULL) THEN
    RAISE EXCEPTION 'an offer is for its own combination' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.state = 'used' AND NEW.state = 'open' AND NOT EXISTS (SELECT FROM public.submissions_slot
     WHERE submission_id = OLD.submission_id AND state = 'refunded') THEN
    RAISE EXCEPTION 'an offer opens again only once its use was returned'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION submissions_offer_guard() FROM PUBLIC;
CREATE TRIGGER submissions_offer_guard BEFORE INSERT OR UPDATE ON submissions_rerunoffer
  FOR EACH ROW EXECUTE FUNCTION submissions_offer_guard();
ALTER TABLE submissions_rerunoffer ENABLE ALWAYS TRIGGER submissions_offer_guard;
CREATE FUNCTION submissions_slot_of_offer() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.submissions_rerunoffer
     WHERE id = NEW.offer_id AND state = 'used' AND submission_id = NEW.submission_id) THEN
    RAISE EXCEPTION 'a slot is outside the quota only by an offer that its submission took'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION submissions_slot_of_offer() FROM PUBLIC;
CREATE TRIGGER submissions_slot_of_offer BEFORE INSERT ON submissions_slot
  FOR EACH ROW WHEN (NEW.offer_id IS NOT NULL) EXECUTE FUNCTION submissions_slot_of_offer();
ALTER TABLE submissions_slot ENABLE ALWAYS TRIGGER submissions_slot_of_offer;
"""
UNGUARDED = """
DROP TRIGGER submissions_slot_of_offer ON submissions_slot; DROP FUNCTION submissions_slot_of_offer();
DROP TRIGGER submissions_offer_guard ON submissions_rerunoffer; DROP FUNCTION submissions_offer_guard();
"""
KEYS = """
CREATE OR REPLACE FUNCTION submissions_slot_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.submission_id, NEW.task_set_id, NEW.line_id, NEW.lineage_id, NEW.reserved_at)
       IS DISTINCT FROM (OLD.id, OLD.submission_id, OLD.task_set_id, OLD.line_id, OLD.lineage_id, OLD.reserved_at)
     OR NEW.account_id IS DISTINCT FROM OLD.account_id{offer} THEN
    RAISE EXCEPTION 'whose slot it is never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("submissions", "0014_content_of_packages")]

    operations = [
        migrations.CreateModel(
            name="RerunOffer",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("package_digest", models.CharField(max_length=64)),
                ("state", models.CharField(choices=STATES, default="open", max_length=12)),
                ("offered_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "former",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rerun_offers",
                        to="submissions.submission",
                    ),
                ),
                (
                    "harness_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rerun_offers",
                        to="submissions.harnessversion",
                    ),
                ),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rerun_offers",
                        to="accounts.organisation",
                    ),
                ),
                (
                    "submission",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rerun_offer",
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
            ],
            options={
                "indexes": [models.Index(fields=["organisation", "-id"], name="rerun_offer_of_organisation")],
                "constraints": [
                    models.UniqueConstraint(fields=("former", "task_set"), name="rerun_offered_once"),
                    models.CheckConstraint(
                        condition=Q(state="open", submission=None, used_at=None, ended_at=None)
                        | Q(state="used", submission__isnull=False, used_at__isnull=False, ended_at=None)
                        | Q(
                            state__in=("expired", "withdrawn"),
                            submission=None,
                            used_at=None,
                            ended_at__isnull=False,
                        ),
                        name="rerun_offer_state_has_its_facts",
                    ),
                ],
            },
        ),
        ungoverned(SLOT),
        migrations.AddField(
            model_name="slot",
            name="offer",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="slots",
                to="submissions.rerunoffer",
            ),
        ),
        migrations.AddConstraint(
            model_name="slot",
            constraint=models.UniqueConstraint(
                condition=~Q(state="refunded"), fields=("offer",), name="slot_takes_an_offer_alone"
            ),
        ),
        governed(SLOT, subject="slot"),
        migrations.RunSQL(
            KEYS.format(offer=" OR NEW.offer_id IS DISTINCT FROM OLD.offer_id"), KEYS.format(offer="")
        ),
        legal_moves(OFFER, MOVES, name="submissions_offer_moves", initial="open"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(
            OFFER, name="submissions_offer_kept", message="an offer stays on record", operations="DELETE"
        ),
        governed(OFFER, subject="rerun_offer"),
        grant("SELECT, INSERT", [OFFER], ["sealed"]),
        grant("SELECT", [OFFER], ["web", "console", "auditor"]),
        grant(f"UPDATE {MOVED}", [OFFER], ["web", "sealed", "console"]),
    ]
