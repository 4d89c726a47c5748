"""Where submissions stand in the queue, as vendors are told."""

import django.db.models.deletion
from django.db import migrations, models

from audit.database import grant

STANDING = "submissions_queuestanding"


class Migration(migrations.Migration):
    dependencies = [("submissions", "0015_offers_of_reruns")]

    operations = [
        migrations.CreateModel(
            name="QueueStanding",
            fields=[
                (
                    "submission",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="standing",
                        serialize=False,
                        to="submissions.submission",
                    ),
                ),
                ("place", models.CharField(max_length=12)),
                ("starts", models.CharField(max_length=16)),
                ("ends", models.CharField(max_length=16)),
                ("noted_at", models.DateTimeField()),
            ],
        ),
        grant("SELECT, INSERT, UPDATE", [STANDING], ["web", "sealed"]),
        grant("SELECT", [STANDING], ["console"]),
    ]
