"""Whoever takes submissions asks whether the organisation audits."""

from django.db import migrations

from audit.database import grant


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_auditor_terms")]

    operations = [
        grant("SELECT (organisation_id)", ["accounts_auditorganisation"], ["web", "sealed", "execute"]),
    ]
