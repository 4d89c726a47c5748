"""No entry is withheld without an event. Here, because the function of governed tables is made above the log."""

from django.db import migrations

from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0001_what_auditors_compare"),
        ("accounts", "0003_governed"),
        ("audit", "0004_for_auditors"),
    ]

    operations = [governed("audit_withholding", subject="entry", id_column="position")]
