"""Tokens keep why they were revoked, and at which point before their end the holder was told; reports of leaks."""

from django.db import migrations, models

from audit.database import grant
from audit.governed import governed, ungoverned


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_registration_rules")]

    operations = [
        ungoverned("accounts_apitoken"),
        migrations.AddField(
            "apitoken",
            "revoked_cause",
            models.CharField(
                blank=True,
                choices=[
                    ("revoked", "revoked by a person"),
                    ("leaked", "reported as leaked"),
                    ("password_changed", "the holder's password was changed"),
                    ("erased", "the holder was erased"),
                ],
                default="",
                max_length=20,
            ),
        ),
        migrations.AddField("apitoken", "announced_days", models.SmallIntegerField(blank=True, null=True)),
        governed(
            "accounts_apitoken",
            subject="token",
            id_column="public_id",
            besides=["last_used_at", "announced_days"],
        ),
        migrations.CreateModel(
            "LeakReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=128)),
                ("token_key", models.CharField(max_length=15)),
                ("reported_at", models.DateTimeField()),
            ],
        ),
        grant("SELECT, INSERT, UPDATE, DELETE", ["accounts_leakreport"], ["web"]),
    ]
