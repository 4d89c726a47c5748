"""Blind re-checks: commitments, the draw, sheets of those who judge."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids


class Migration(migrations.Migration):
    dependencies = [
        ("appeals", "0002_appeals_guarded"),
        ("evaluation", "0008_answer_digest"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RecheckSecret",
            fields=[
                (
                    "appeal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="appeals.appeal",
                    ),
                ),
                ("wrapped_nonce", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Recheck",
            fields=[
                (
                    "appeal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="recheck",
                        serialize=False,
                        to="appeals.appeal",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("committed", "waits for your word"),
                            ("revealed", "waits for the draw"),
                            ("drawn", "being judged"),
                            ("judged", "judged, shown on the next tick"),
                            ("shown", "done"),
                            ("lapsed", "not held"),
                        ],
                        default="committed",
                        max_length=12,
                    ),
                ),
                ("state_since", models.DateTimeField()),
                ("platform_commitment", models.CharField(max_length=64)),
                ("committed_at", models.DateTimeField()),
                ("word_due_at", models.DateTimeField()),
                ("word", models.CharField(blank=True, default="", max_length=200)),
                ("nonce", models.CharField(blank=True, default="", max_length=64)),
                ("runs", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("agreement", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("low", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("high", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("is_below", models.BooleanField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("is_below__isnull", False), ("state", "shown")),
                            models.Q(models.Q(("state", "shown"), _negated=True), ("agreement", None)),
                            _connector="OR",
                        ),
                        name="recheck_shown_with_its_finding",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecheckItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.opaque_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("verdict", models.BooleanField()),
                (
                    "appeal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="appeals.appeal"
                    ),
                ),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evaluation.attempt"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RecheckPanel",
            fields=[
                (
                    "appeal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="panel",
                        serialize=False,
                        to="appeals.appeal",
                    ),
                ),
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
                    models.CheckConstraint(
                        condition=models.Q(("first", models.F("second")), _negated=True),
                        name="recheck_two_judge",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecheckSheet",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.opaque_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("place", models.PositiveSmallIntegerField()),
                ("sealed", models.BinaryField(default=b"")),
                ("boxed_key", models.BinaryField(default=b"")),
                ("delivers", models.BooleanField(blank=True, null=True)),
                ("judged_at", models.DateTimeField(blank=True, null=True)),
                (
                    "appeal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="appeals.appeal"
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sheets",
                        to="appeals.recheckitem",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        db_column="judge",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("item", "judge"), name="recheck_sheet_once_a_judge"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("delivers", None), ("judged_at", None)),
                            models.Q(("delivers__isnull", False), ("judged_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="recheck_judged_at_an_instant",
                    ),
                ],
            },
        ),
    ]
