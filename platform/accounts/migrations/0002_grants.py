"""Who may read and write accounts, and the tables of the libraries that sign people in."""

from django.db import migrations

from audit.database import grant

SIGN_IN = ["account_emailaddress", "account_emailconfirmation", "mfa_authenticator", "django_session"]
RIGHTS = ["auth_group", "auth_permission", "auth_group_permissions", "django_content_type"]
OWN = [
    "accounts_user",
    "accounts_lineage",
    "accounts_organisation",
    "accounts_membership",
    "accounts_apitoken",
    "accounts_user_groups",
    "accounts_user_user_permissions",
]


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("audit", "0001_initial"),
        ("account", "0009_emailaddress_unique_primary_email"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("sessions", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("admin", "0003_logentry_add_action_flag_choices"),
    ]

    operations = [
        grant("SELECT, INSERT, UPDATE, DELETE", SIGN_IN, ["web", "console"]),
        grant("SELECT", RIGHTS, ["web", "console"]),
        grant("SELECT, INSERT, UPDATE", OWN, ["web", "console"]),
        grant("DELETE", ["accounts_membership", "accounts_user_groups"], ["web", "console"]),
        grant("SELECT, INSERT", ["django_admin_log"], ["console"]),
        grant(
            "SELECT",
            ["accounts_user", "accounts_lineage", "accounts_organisation", "accounts_membership"],
            ["sealed"],
        ),
        grant(
            "SELECT (id, name, slug, lineage_id, state, is_operator)", ["accounts_organisation"], ["auditor"]
        ),
    ]
