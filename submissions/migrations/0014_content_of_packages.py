"""What a package holds apart from its version line, so that a draw is not made again under another name."""

from django.db import migrations, models

from audit.governed import governed, ungoverned


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0013_preflights_alone"),
    ]

    operations = [
        ungoverned("submissions_submission"),
        migrations.AddField(
            model_name="submission",
            name="content_digest",
            field=models.CharField(blank=True, db_default="", max_length=64),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(fields=["task_set", "content_digest"], name="submission_by_content"),
        ),
        governed(
            "submissions_submission", subject="submission", besides=["check_lease", "check_lease_until"]
        ),
    ]
