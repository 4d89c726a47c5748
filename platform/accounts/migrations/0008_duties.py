"""Duties of the staff, and the ceremony that named the first two. Their rules stand in the next migration."""

import datetime as dt

import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models

import config.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_marks_are_asked"),
    ]

    operations = [
        migrations.CreateModel(
            name="DutyAssignment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "duty",
                    models.CharField(
                        choices=[
                            ("task_author", "task author"),
                            ("evaluation_engineer", "evaluation engineer"),
                            ("scoring_maintainer", "scoring maintainer"),
                            ("held_out_governor", "held-out governor"),
                            ("arbiter", "arbiter"),
                            ("identity_reviewer", "identity reviewer"),
                            ("administrator", "administrator"),
                        ],
                        max_length=32,
                    ),
                ),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("assigned_at", models.DateTimeField()),
                ("reason", models.TextField()),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("confirm_reason", models.TextField(blank=True, default="")),
                ("review_due_at", models.DateTimeField(blank=True, null=True)),
                ("reviewed_at", models.DateTimeField(blank=True, null=True)),
                ("review_reason", models.TextField(blank=True, default="")),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("end_reason", models.TextField(blank=True, default="")),
                (
                    "assigned_by",
                    models.ForeignKey(
                        db_column="assigned_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="confirmed_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
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
                    "person",
                    models.ForeignKey(
                        db_column="person",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="duties",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "reviewed_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="reviewed_by",
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
                            (
                                "duty__in",
                                [
                                    "task_author",
                                    "evaluation_engineer",
                                    "scoring_maintainer",
                                    "held_out_governor",
                                    "arbiter",
                                    "identity_reviewer",
                                    "administrator",
                                ],
                            )
                        ),
                        name="duty_by_term",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("begins_at"))), name="duty_dates"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "ends_at__lte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("begins_at"), "+", models.Value(dt.timedelta(days=366))
                                ),
                            )
                        ),
                        name="duty_too_long",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("confirmed_at", None), ("confirmed_by", None), ("review_due_at", None)),
                            models.Q(
                                ("confirmed_at__isnull", False),
                                ("confirmed_by__isnull", False),
                                ("review_due_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="duty_confirmed_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("confirmed_by", None),
                            models.Q(("confirmed_by", models.F("assigned_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="duty_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("confirmed_by", None),
                                models.Q(("confirmed_by", models.F("person")), _negated=True),
                                _connector="OR",
                            ),
                            models.Q(
                                ("reviewed_by", None),
                                models.Q(("reviewed_by", models.F("person")), _negated=True),
                                _connector="OR",
                            ),
                        ),
                        name="duty_own",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_by", None)),
                            models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="duty_ended_by_somebody",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DutyCeremony",
            fields=[
                ("id", models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("held_at", models.DateTimeField()),
                ("transaction", models.BigIntegerField(default=0, editable=False)),
                (
                    "first",
                    models.ForeignKey(
                        db_column="first",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        db_column="second",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="duties_begun"),
                    models.CheckConstraint(
                        condition=models.Q(("first", models.F("second")), _negated=True),
                        name="duties_begun_by_two",
                    ),
                ],
            },
        ),
    ]
