"""Invitations, and which of several organisations somebody sees; the latter is no change that needs an event."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.clock
import config.ids
from audit.database import grant, immutable
from audit.governed import governed, ungoverned

ENDS = "UPDATE (address, accepted_at, revoked_at)"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_notices")]

    operations = [
        ungoverned("accounts_membership"),
        migrations.AddField("membership", "chosen_at", models.DateTimeField(default=config.clock.now)),
        governed(
            "accounts_membership",
            subject="organisation",
            id_column="organisation_id",
            besides=["chosen_at"],
        ),
        migrations.RunSQL("UPDATE accounts_membership SET chosen_at = created_at", migrations.RunSQL.noop),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("address", models.EmailField(blank=True, max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "owner"), ("submitter", "submitter"), ("viewer", "viewer")],
                        max_length=16,
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to="accounts.organisation",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("accepted_at", None), ("revoked_at", None), _connector="OR"),
                        name="invitation_ends_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("accepted_at", None), ("revoked_at", None)),
                            ("address", ""),
                            _connector="OR",
                        ),
                        name="invitation_forgets_address",
                    ),
                ],
            },
        ),
        governed("accounts_invitation", subject="invitation"),
        immutable(
            "accounts_invitation",
            name="accounts_invitation_kept",
            message="invitations stay on record",
            operations="DELETE",
        ),
        grant("SELECT, INSERT", ["accounts_invitation"], ["web", "console"]),
        grant(ENDS, ["accounts_invitation"], ["web", "console"]),
        grant(
            "SELECT (id, organisation_id, role, expires_at, accepted_at, revoked_at)",
            ["accounts_invitation"],
            ["auditor"],
        ),
    ]
