"""The agreement of a blind re-check is charged to the leak ledger under a kind of its own."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("governance", "0009_rulings_order_regrades"),
    ]

    operations = [
        migrations.AlterField(
            model_name="leakcharge",
            name="kind",
            field=models.CharField(
                choices=[
                    ("result", "result"),
                    ("confirmation", "confirmation run"),
                    ("correction", "correction of an error of the platform"),
                    ("recheck", "agreement of a blind re-check"),
                ],
                max_length=16,
            ),
        ),
    ]
