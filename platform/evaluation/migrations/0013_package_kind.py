"""Packages are bundles or images."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0012_purges_of_artefacts"),
    ]

    operations = [
        migrations.AddField(
            model_name="storedpackage",
            name="kind",
            field=models.CharField(
                choices=[("bundle", "bundle"), ("image", "image")],
                db_default="bundle",
                default="bundle",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="storedpackage",
            name="tree_digest",
            field=models.CharField(blank=True, db_default="", max_length=64),
        ),
    ]
