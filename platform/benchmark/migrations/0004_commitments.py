"""The salted root over what a version consists of; its secret is for sealed workers, its figures for auditors too."""

import django.db.models.deletion
from django.db import migrations, models

from audit.database import grant, immutable
from audit.governed import governed

TABLE = "benchmark_assetcommitment"


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0003_governed")]

    operations = [
        migrations.CreateModel(
            name="AssetCommitment",
            fields=[
                (
                    "version",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="asset_commitment",
                        serialize=False,
                        to="benchmark.tasksetversion",
                    ),
                ),
                ("root", models.CharField(max_length=64)),
                ("tasks", models.PositiveIntegerField()),
                ("wrapped_secret", models.BinaryField()),
                ("made_at", models.DateTimeField()),
            ],
        ),
        immutable(TABLE, name="asset_commitment_immutable", message="what was committed stays so"),
        governed(TABLE, subject="task_set", id_column="version_id"),
        grant("SELECT, INSERT", [TABLE], ["sealed"]),
        grant("SELECT (version_id, root, tasks, made_at)", [TABLE], ["console", "auditor"]),
    ]
