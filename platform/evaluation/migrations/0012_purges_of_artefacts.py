"""Purges of stored artefacts, and which attempts have nothing stored any more."""

import django.db.models.deletion
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable

PURGE, PURGED = "evaluation_artefactpurge", "evaluation_purgedartefact"
CLASSES = [
    ("preflight", "preflights and canaries"),
    ("held_out", "held-out runs"),
    ("failed", "attempts that gave no result"),
    ("unclaimed", "objects that no attempt names"),
]
PROTECT = django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0011_fleet_alerts")]

    operations = [
        migrations.CreateModel(
            name="ArtefactPurge",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(choices=CLASSES, max_length=12)),
                ("at", models.DateTimeField()),
                ("count", models.PositiveIntegerField()),
                ("size", models.BigIntegerField()),
                ("digest", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="PurgedArtefact",
            fields=[
                (
                    "attempt",
                    models.OneToOneField(
                        on_delete=PROTECT,
                        primary_key=True,
                        related_name="purged",
                        serialize=False,
                        to="evaluation.attempt",
                    ),
                ),
                (
                    "purge",
                    models.ForeignKey(
                        on_delete=PROTECT, related_name="artefacts", to="evaluation.artefactpurge"
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="attempt",
            index=models.Index(
                fields=["artefact_key"],
                name="attempt_by_artefact",
                condition=~models.Q(artefact_key=""),
            ),
        ),
        immutable(PURGE, name="evaluation_purge_immutable", message="a purge stays on record"),
        immutable(PURGED, name="evaluation_purged_immutable", message="a purge stays on record"),
        grant("SELECT, INSERT", [PURGE, PURGED], ["sealed"]),
        grant("SELECT", [PURGE, PURGED], ["console"]),
    ]
