"""People ask to be erased; staff carry it out."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from audit.database import grant
from audit.governed import governed

PSEUDONYM = ("accounts_user", "pseudonym")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0020_link_rules")]

    operations = [
        migrations.CreateModel(
            name="ErasureRequest",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="erasure_request",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("asked_at", models.DateTimeField()),
            ],
        ),
        governed("accounts_erasurerequest", subject="account", id_column="user_id", through=PSEUDONYM),
        grant("SELECT, INSERT, DELETE", ["accounts_erasurerequest"], ["web", "console"]),
    ]
