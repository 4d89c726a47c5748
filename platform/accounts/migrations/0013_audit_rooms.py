"""Audit rooms, and what the database refuses about them whoever writes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable
from audit.governed import governed

GUARD = """
CREATE FUNCTION accounts_room_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF coalesce(NEW.opened_at, NEW.ended_at) IS NOT NULL THEN
      PERFORM public.accounts_duty_refuse('room_begins_closed', 'a room begins as a proposal');
    END IF;
    RETURN NEW;
  END IF;
  IF ROW(NEW.id, NEW.term_id, NEW.submission_id, NEW.lineage_id, NEW.hours, NEW.reason, NEW.proposed_by,
         NEW.proposed_at)
    IS DISTINCT FROM
     ROW(OLD.id, OLD.term_id, OLD.submission_id, OLD.lineage_id, OLD.hours, OLD.reason, OLD.proposed_by,
         OLD.proposed_at) THEN
    PERFORM public.accounts_duty_refuse('room_is_fixed', 'what was proposed does not change; end it and propose anew');
  ELSIF OLD.ended_at IS NOT NULL THEN
    PERFORM public.accounts_duty_refuse('duty_is_over', 'a room that was ended stays as it is');
  ELSIF OLD.opened_at IS NOT NULL AND ROW(NEW.opened_by, NEW.opened_at, NEW.closes_at)
    IS DISTINCT FROM ROW(OLD.opened_by, OLD.opened_at, OLD.closes_at) THEN
    PERFORM public.accounts_duty_refuse('duty_is_confirmed', 'a room is opened once');
  ELSIF NEW.closes_at > NEW.opened_at + make_interval(hours => NEW.hours) THEN
    PERFORM public.accounts_duty_refuse('room_hours', 'a room closes after the hours that were proposed');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_room_guard BEFORE INSERT OR UPDATE ON accounts_auditroom
  FOR EACH ROW EXECUTE FUNCTION accounts_room_guard();
ALTER TABLE accounts_auditroom ENABLE ALWAYS TRIGGER accounts_room_guard;
"""
UNDONE = "DROP TRIGGER accounts_room_guard ON accounts_auditroom; DROP FUNCTION accounts_room_guard();"


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_members"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditRoom",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("submission_id", models.UUIDField()),
                ("lineage_id", models.UUIDField()),
                ("hours", models.PositiveSmallIntegerField()),
                ("reason", models.TextField()),
                ("proposed_at", models.DateTimeField()),
                ("opened_at", models.DateTimeField(blank=True, null=True)),
                ("closes_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "ended_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="ended_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "opened_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="opened_by",
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
                    "term",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="rooms",
                        to="accounts.auditorterm",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("hours__gte", 1), ("hours__lte", 168)), name="room_hours"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("closes_at", None), ("opened_at", None), ("opened_by", None)),
                            models.Q(
                                ("closes_at__gt", models.F("opened_at")),
                                ("opened_at__isnull", False),
                                ("opened_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="room_opened_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("opened_by", None),
                            models.Q(("opened_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="room_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_by", None)),
                            models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="room_ended_by_somebody",
                    ),
                ],
            },
        ),
        migrations.RunSQL(GUARD, UNDONE),
        governed("accounts_auditroom", subject="audit_room"),
        immutable(
            "accounts_auditroom",
            name="accounts_room_kept",
            message="audit rooms stay on record",
            operations="DELETE",
        ),
        grant("SELECT, INSERT", ["accounts_auditroom"], ["console"]),
        grant(
            "UPDATE (opened_by, opened_at, closes_at, ended_by, ended_at)",
            ["accounts_auditroom"],
            ["console"],
        ),
        grant("SELECT", ["accounts_auditroom"], ["auditor"]),
    ]
