"""What a run answered, apart from how long it took."""

from django.db import migrations, models

from audit.governed import governed, ungoverned


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0007_upstreams_guarded"),
    ]

    operations = [
        migrations.AddField(
            model_name="attempt",
            name="answer_sha256",
            field=models.CharField(blank=True, db_default="", max_length=64),
        ),
        ungoverned("evaluation_attempt"),
        governed("evaluation_attempt", subject="attempt", inserted_when="NEW.ended_at IS NOT NULL"),
    ]
