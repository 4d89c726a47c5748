"""Who may read released numbers, and who the sealed ones; what was released is never changed."""

from django.db import migrations

from audit.database import grant, immutable

SHOWN = ["governance_releasepolicy", "governance_release", "governance_domainaggregate"]


class Migration(migrations.Migration):
    dependencies = [("governance", "0001_initial"), ("submissions", "0002_guards_and_grants")]

    operations = [
        immutable(
            "governance_releasepolicy",
            name="release_policy_immutable",
            message="policy rows are never changed",
        ),
        immutable(
            "governance_release", name="release_immutable", message="what was released is never changed"
        ),
        immutable(
            "governance_domainaggregate",
            name="aggregate_immutable",
            message="what was released is never changed",
        ),
        immutable(
            "governance_sealedaggregate",
            name="sealed_aggregate_immutable",
            message="an aggregate never changes",
        ),
        grant("SELECT", SHOWN, ["web", "console", "auditor"]),
        grant("SELECT, INSERT", [*SHOWN, "governance_sealedaggregate"], ["sealed"]),
        grant("SELECT", ["governance_sealedaggregate"], ["console"]),
    ]
