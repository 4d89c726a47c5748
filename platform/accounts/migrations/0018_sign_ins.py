"""Where somebody is signed in."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.clock
import config.ids
from audit.database import grant


class Migration(migrations.Migration):
    dependencies = [("accounts", "0017_publishers")]

    operations = [
        migrations.CreateModel(
            name="SignIn",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("device", models.CharField(max_length=80)),
                ("began_at", models.DateTimeField(default=config.clock.now)),
                ("seen_at", models.DateTimeField(default=config.clock.now)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_ins",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        grant("SELECT, INSERT, UPDATE, DELETE", ["accounts_signin"], ["web", "console"]),
    ]
