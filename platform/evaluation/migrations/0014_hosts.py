"""Speeds of hosts; isolation grade and speed class of runs; what hosts count of attempts."""

from django.db import migrations, models

from audit.database import grant
from audit.governed import governed, ungoverned

RUN, ATTEMPT = "evaluation_evaluationrun", "evaluation_attempt"


def text(length: int) -> models.CharField:
    return models.CharField(blank=True, db_default="", max_length=length)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0013_package_kind"),
    ]

    operations = [
        migrations.CreateModel(
            name="HostSpeed",
            fields=[
                ("host", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("machine", models.CharField(max_length=64)),
                ("processor", models.FloatField()),
                ("disk", models.FloatField()),
                ("measured_at", models.DateTimeField()),
            ],
        ),
        ungoverned(ATTEMPT),
        migrations.AddField("attempt", "host", text(64)),
        migrations.AddField("attempt", "speed_class", text(24)),
        migrations.AddField("attempt", "signals", models.JSONField(db_default={}, default=dict)),
        governed(ATTEMPT, subject="attempt", inserted_when="NEW.ended_at IS NOT NULL"),
        ungoverned(RUN),
        migrations.AddField("evaluationrun", "isolation", models.JSONField(db_default=[], default=list)),
        migrations.AddField("evaluationrun", "speed", models.JSONField(db_default=[], default=list)),
        governed(RUN, subject="run", besides=["quarter", "quarter_at"]),
        migrations.AddField("workerreport", "speed_class", text(24)),
        migrations.AddField("workerreport", "refusals", models.JSONField(db_default=[], default=list)),
        grant("SELECT, INSERT, UPDATE", ["evaluation_hostspeed"], ["execute", "sealed"]),
        grant("SELECT", ["evaluation_hostspeed"], ["console"]),
    ]
