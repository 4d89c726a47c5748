"""Orders of staff to the fleet, an episode's quarantine, and the host of a worker."""

import django.db.models.deletion
from django.db import migrations, models

import config.ids


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0008_answer_digest"),
    ]

    operations = [
        migrations.AddField(
            model_name="workerreport",
            name="host",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AlterField(
            model_name="episode",
            name="state",
            field=models.CharField(
                choices=[
                    ("ready", "ready"),
                    ("leased", "leased"),
                    ("executed", "executed"),
                    ("grading", "grading"),
                    ("graded", "graded"),
                    ("unavailable", "unavailable"),
                    ("quarantined", "quarantined"),
                    ("cancelled", "cancelled"),
                ],
                default="ready",
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="FleetOrder",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ordered_by", models.CharField(max_length=64)),
                ("ordered_at", models.DateTimeField()),
                ("reason", models.TextField()),
                ("lifted_by", models.CharField(blank=True, max_length=64)),
                ("lifted_at", models.DateTimeField(blank=True, null=True)),
                ("lift_reason", models.TextField(blank=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("drain", "drain"), ("quarantine", "quarantine")], max_length=12
                    ),
                ),
                ("scope", models.CharField(choices=[("worker", "worker"), ("host", "host")], max_length=8)),
                ("name", models.CharField(max_length=64)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("lifted_at", None)),
                        fields=("kind", "scope", "name"),
                        name="fleet_order_once_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ("drain", "quarantine")),
                            ("scope__in", ("worker", "host")),
                            models.Q(("name", ""), _negated=True),
                        ),
                        name="fleet_order_of_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lift_reason", ""), ("lifted_at", None), ("lifted_by", "")),
                            models.Q(
                                ("lifted_at__gte", models.F("ordered_at")),
                                models.Q(("lifted_by", ""), _negated=True),
                                models.Q(("lift_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="fleet_order_lifted_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Pause",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ordered_by", models.CharField(max_length=64)),
                ("ordered_at", models.DateTimeField()),
                ("reason", models.TextField()),
                ("lifted_by", models.CharField(blank=True, max_length=64)),
                ("lifted_at", models.DateTimeField(blank=True, null=True)),
                ("lift_reason", models.TextField(blank=True)),
                (
                    "switch",
                    models.CharField(
                        choices=[
                            ("intake", "intake of submissions"),
                            ("execution", "execution of runs"),
                            ("release", "release of results"),
                        ],
                        max_length=12,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("lifted_at", None)),
                        fields=("switch",),
                        name="pause_once_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("switch__in", ["intake", "execution", "release"])),
                        name="pause_of_a_switch",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lift_reason", ""), ("lifted_at", None), ("lifted_by", "")),
                            models.Q(
                                ("lifted_at__gte", models.F("ordered_at")),
                                models.Q(("lifted_by", ""), _negated=True),
                                models.Q(("lift_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="pause_lifted_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="EpisodeQuarantine",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ordered_by", models.CharField(max_length=64)),
                ("ordered_at", models.DateTimeField()),
                ("reason", models.TextField()),
                ("lifted_by", models.CharField(blank=True, max_length=64)),
                ("lifted_at", models.DateTimeField(blank=True, null=True)),
                ("lift_reason", models.TextField(blank=True)),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("poison", "each of its attempts took its worker down"),
                            ("staff", "set apart by staff"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "attempt",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.attempt",
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="quarantines",
                        to="evaluation.episode",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("lifted_at", None)),
                        fields=("episode",),
                        name="quarantine_once_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lift_reason", ""), ("lifted_at", None), ("lifted_by", "")),
                            models.Q(
                                ("lifted_at__gte", models.F("ordered_at")),
                                models.Q(("lifted_by", ""), _negated=True),
                                models.Q(("lift_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="quarantine_lifted_whole",
                    ),
                ],
            },
        ),
    ]
