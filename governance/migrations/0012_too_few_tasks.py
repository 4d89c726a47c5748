"""A domain of which too few tasks have a valid run shows no value: the reason says so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("governance", "0011_vendors_withdraw_confirmations"),
    ]

    operations = [
        migrations.AlterField(
            model_name="domainaggregate",
            name="reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("no_valid_run", "No run of this domain is valid, or runs of too few of its tasks are"),
                    ("repeat", "Answers every task as an earlier submission did"),
                    (
                        "near_duplicate",
                        "Behaves like an earlier version on all but a few tasks; its own value is not reported",
                    ),
                    ("ladder", "Does not beat the best value so far by more than chance explains"),
                    ("budget", "The information budget of this version is spent"),
                ],
                db_default="",
                max_length=16,
            ),
        ),
    ]
