"""No release policy is set and nothing is computed or released of a submission without an event."""

from django.db import migrations

from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [("governance", "0002_grants"), ("accounts", "0003_governed")]

    operations = [
        governed("governance_releasepolicy", subject="release_policy"),
        governed("governance_sealedaggregate", subject="submission", id_column="submission_id"),
        governed("governance_release", subject="submission", id_column="submission_id"),
        governed(
            "governance_domainaggregate",
            subject="submission",
            id_column="release_id",
            through=("governance_release", "submission_id"),
        ),
    ]
