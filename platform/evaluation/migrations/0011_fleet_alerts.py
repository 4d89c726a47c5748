"""Alarms about work that nobody takes; and what the vendors' process reads of workers to say that none is up."""

from django.db import migrations, models
from django.db.models import Q

import config.ids
from audit.database import grant

ALERT = "evaluation_fleetalert"


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0010_fleet_orders_guarded")]

    operations = [
        migrations.CreateModel(
            name="FleetAlert",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("queue", models.CharField(max_length=16)),
                ("waiting_since", models.DateTimeField()),
                ("raised_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(ended_at=None), fields=("queue",), name="fleet_alert_once_at_a_time"
                    )
                ],
            },
        ),
        grant("SELECT, INSERT, UPDATE", [ALERT], ["sealed"]),
        grant("SELECT", [ALERT], ["console"]),
        grant("SELECT (passed)", ["evaluation_workerreport"], ["web"]),
    ]
