"""Auditors compare what events say with the rows: columns of governed tables, none of them a secret or a task."""

from django.db import migrations

from audit.database import grant


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_auditor_terms"),
        ("submissions", "0003_governed"),
        ("evaluation", "0003_governed"),
        ("governance", "0003_governed"),
    ]

    operations = [
        grant(
            "SELECT (id, harness_version_id, state, failure, sha256, size, channel)",
            ["submissions_upload"],
            ["auditor"],
        ),
        grant("SELECT (id, digest)", ["evaluation_storedpackage"], ["auditor"]),
    ]
