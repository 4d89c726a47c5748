"""Cases of lineages that may belong together, and coarse marks of networks."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0018_sign_ins"),
    ]

    operations = [
        migrations.CreateModel(
            name="LinkCase",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("signals", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "to be reviewed"),
                            ("proposed", "to be confirmed"),
                            ("linked", "linked"),
                            ("cleared", "cleared"),
                        ],
                        default="open",
                        max_length=16,
                    ),
                ),
                ("opened_at", models.DateTimeField()),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[("link", "they belong together"), ("clear", "they do not belong together")],
                        default="",
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True, default="")),
                ("proposed_at", models.DateTimeField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "absorbed",
                    models.ForeignKey(
                        blank=True,
                        db_column="absorbed",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.lineage",
                    ),
                ),
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
                    "first",
                    models.ForeignKey(
                        db_column="first",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.lineage",
                    ),
                ),
                (
                    "into",
                    models.ForeignKey(
                        blank=True,
                        db_column="into",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.lineage",
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="proposed_by",
                        null=True,
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
                        to="accounts.lineage",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("second"))), name="link_case_of_two"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("open", "proposed"))),
                        fields=("first", "second"),
                        name="link_case_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("decided_by", None),
                            models.Q(("decided_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="link_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("decided_by", None),
                                ("proposed_by", None),
                                ("state", "open"),
                                ("verdict", ""),
                            ),
                            models.Q(
                                ("decided_by", None), ("proposed_by__isnull", False), ("state", "proposed")
                            ),
                            models.Q(
                                ("decided_by__isnull", False),
                                ("proposed_by__isnull", False),
                                ("state", "linked"),
                                ("verdict", "link"),
                            ),
                            models.Q(
                                ("decided_by__isnull", False),
                                ("proposed_by__isnull", False),
                                ("state", "cleared"),
                                ("verdict", "clear"),
                            ),
                            _connector="OR",
                        ),
                        name="link_state_by_two",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NetworkMark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("mark", models.CharField(max_length=64)),
                ("day", models.DateField()),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organisation",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("mark", "organisation", "day"), name="network_mark_once_a_day"
                    )
                ],
            },
        ),
    ]
