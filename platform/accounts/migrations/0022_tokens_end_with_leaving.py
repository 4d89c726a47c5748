"""One more reason why a token was revoked."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0021_erasure_requests"),
    ]

    operations = [
        migrations.AlterField(
            model_name="apitoken",
            name="revoked_cause",
            field=models.CharField(
                blank=True,
                choices=[
                    ("revoked", "revoked by a person"),
                    ("leaked", "reported as leaked"),
                    ("password_changed", "the holder's password was changed"),
                    ("erased", "the holder was erased"),
                    ("left", "the holder left the organisation"),
                ],
                default="",
                max_length=20,
            ),
        ),
    ]
