"""A date of errata may have a document, as dates of results do."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("governance", "0006_confirmation_runs"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="releasedate",
            name="release_date_has_its_document",
        ),
        migrations.AddConstraint(
            model_name="releasedate",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("dated_at", None), ("document", ""), ("sha256", "")),
                    models.Q(
                        ("dated_at__isnull", False), ("document", ""), ("kind", "errata"), ("sha256", "")
                    ),
                    models.Q(
                        ("dated_at__isnull", False),
                        models.Q(("document", ""), _negated=True),
                        models.Q(("sha256", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="release_date_has_its_document",
            ),
        ),
    ]
