"""An attempt can end by the cancellation of its run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0014_hosts"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="ending",
            field=models.CharField(
                blank=True,
                choices=[
                    ("finished", "finished"),
                    ("crashed", "crashed"),
                    ("budget_exhausted", "budget exhausted"),
                    ("limit_exceeded", "limit exceeded"),
                    ("infrastructure_fault", "infrastructure fault"),
                    ("cancelled", "cancelled"),
                ],
                max_length=24,
            ),
        ),
        migrations.AlterField(
            model_name="publictaskresult",
            name="ending",
            field=models.CharField(
                choices=[
                    ("finished", "finished"),
                    ("crashed", "crashed"),
                    ("budget_exhausted", "budget exhausted"),
                    ("limit_exceeded", "limit exceeded"),
                    ("infrastructure_fault", "infrastructure fault"),
                    ("cancelled", "cancelled"),
                ],
                max_length=24,
            ),
        ),
        migrations.AlterField(
            model_name="taskresult",
            name="ending",
            field=models.CharField(
                choices=[
                    ("finished", "finished"),
                    ("crashed", "crashed"),
                    ("budget_exhausted", "budget exhausted"),
                    ("limit_exceeded", "limit exceeded"),
                    ("infrastructure_fault", "infrastructure fault"),
                    ("cancelled", "cancelled"),
                ],
                max_length=24,
            ),
        ),
    ]
