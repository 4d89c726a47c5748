"""No person, organisation, member or token changes without an event; sign-ins and uses are no such change."""

from django.db import migrations

from audit.governed import demand_event, governed

#: Accounts are known to events by their pseudonym.
PSEUDONYM = ("accounts_user", "pseudonym")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_grants")]

    operations = [
        demand_event(),
        governed("accounts_user", subject="account", id_column="pseudonym", besides=["last_login"]),
        governed("accounts_user_groups", subject="account", id_column="user_id", through=PSEUDONYM),
        governed("accounts_user_user_permissions", subject="account", id_column="user_id", through=PSEUDONYM),
        governed("accounts_organisation", subject="organisation"),
        governed("accounts_membership", subject="organisation", id_column="organisation_id"),
        governed("accounts_apitoken", subject="token", id_column="public_id", besides=["last_used_at"]),
    ]
