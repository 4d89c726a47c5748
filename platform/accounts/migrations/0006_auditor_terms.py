"""Audit organisations, and the terms of their auditors; the console's process appoints, auditors read."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.database import grant
from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_people_can_be_erased")]

    operations = [
        migrations.CreateModel(
            name="AuditOrganisation",
            fields=[
                (
                    "organisation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="audits",
                        serialize=False,
                        to="accounts.organisation",
                    ),
                ),
                ("since", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="AuditorTerm",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("scope", models.TextField()),
                ("declaration", models.CharField(max_length=64)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organisation",
                    models.ForeignKey(
                        db_column="organisation_id",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="terms",
                        to="accounts.auditorganisation",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="auditor_terms",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            "auditorterm",
            models.CheckConstraint(
                condition=models.Q(("ends_at__gt", models.F("begins_at"))), name="auditor_term_has_length"
            ),
        ),
        governed("accounts_auditorganisation", subject="organisation", id_column="organisation_id"),
        governed("accounts_auditorterm", subject="auditor_term"),
        grant("SELECT, INSERT", ["accounts_auditorganisation", "accounts_auditorterm"], ["console"]),
        grant("UPDATE (ended_at)", ["accounts_auditorterm"], ["console"]),
        grant("SELECT", ["accounts_auditorganisation", "accounts_auditorterm"], ["auditor"]),
    ]
