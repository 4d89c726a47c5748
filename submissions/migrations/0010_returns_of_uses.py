"""Returns of uses: two people behind each, one for a slot, and no return by staff without them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable
from audit.governed import governed

RETURN = "submissions_usereturn"
GUARDED = """
CREATE FUNCTION submissions_return_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF coalesce(NEW.approved_at, NEW.withdrawn_at) IS NOT NULL THEN
      RAISE EXCEPTION 'a return begins as a proposal' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  ELSIF (NEW.id, NEW.slot_id, NEW.reason, NEW.proposed_by, NEW.proposed_at)
       IS DISTINCT FROM (OLD.id, OLD.slot_id, OLD.reason, OLD.proposed_by, OLD.proposed_at)
     OR coalesce(OLD.approved_at, OLD.withdrawn_at) IS NOT NULL THEN
    RAISE EXCEPTION 'what was proposed, approved or withdrawn never changes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER submissions_return_guard BEFORE INSERT OR UPDATE ON submissions_usereturn
  FOR EACH ROW EXECUTE FUNCTION submissions_return_guard();
ALTER TABLE submissions_usereturn ENABLE ALWAYS TRIGGER submissions_return_guard;
CREATE FUNCTION submissions_slot_by_staff() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM public.accounts_dutyceremony) AND NOT EXISTS (
    SELECT FROM public.submissions_usereturn WHERE slot_id = NEW.id AND approved_at IS NOT NULL) THEN
    RAISE EXCEPTION 'staff return a use that two people approved only'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION submissions_slot_by_staff() FROM PUBLIC;
CREATE TRIGGER submissions_slot_by_staff BEFORE UPDATE ON submissions_slot
  FOR EACH ROW WHEN (NEW.cause = 'refund_by_staff' AND OLD.state <> 'refunded' AND NEW.state = 'refunded')
  EXECUTE FUNCTION submissions_slot_by_staff();
ALTER TABLE submissions_slot ENABLE ALWAYS TRIGGER submissions_slot_by_staff;
"""
UNGUARDED = """
DROP TRIGGER submissions_slot_by_staff ON submissions_slot;
DROP FUNCTION submissions_slot_by_staff();
DROP TRIGGER submissions_return_guard ON submissions_usereturn;
DROP FUNCTION submissions_return_guard();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0009_openings_guarded"),
        ("accounts", "0009_duty_rules"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="UseReturn",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("reason", models.TextField()),
                ("proposed_at", models.DateTimeField()),
                ("approved_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="approved_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        db_column="proposed_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="returns",
                        to="submissions.slot",
                    ),
                ),
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="withdrawn_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("approved_at", None), ("approved_by", None)),
                            models.Q(("approved_at__isnull", False), ("approved_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="return_approved_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("withdrawn_at", None), ("withdrawn_by", None)),
                            models.Q(("withdrawn_at__isnull", False), ("withdrawn_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="return_withdrawn_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("approved_at", None), ("withdrawn_at", None), _connector="OR"),
                        name="return_ends_one_way",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approved_by", None),
                            models.Q(("approved_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="return_two_people",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("withdrawn_at", None)),
                        fields=("slot",),
                        name="return_one_of_a_slot",
                    ),
                ],
            },
        ),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(
            RETURN, name="submissions_return_kept", message="returns stay on record", operations="DELETE"
        ),
        governed(RETURN, subject="use_return"),
        grant("SELECT, INSERT", [RETURN], ["console"]),
        grant("UPDATE (approved_by, approved_at, withdrawn_by, withdrawn_at)", [RETURN], ["console"]),
        grant(
            "SELECT (id, slot_id, proposed_by, proposed_at, approved_by, approved_at, withdrawn_by, withdrawn_at)",
            [RETURN],
            ["auditor"],
        ),
    ]
