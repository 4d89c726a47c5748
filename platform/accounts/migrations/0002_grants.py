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
]
DUTIES = ["accounts_user_groups", "accounts_user_user_permissions"]


NO_SELF_PROMOTION = """
CREATE FUNCTION accounts_no_self_promotion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'lingee_web' AND (TG_OP = 'INSERT' AND (NEW.is_staff OR NEW.is_superuser) OR TG_OP = 'UPDATE' AND
     (NEW.is_staff, NEW.is_superuser, NEW.is_active, NEW.pseudonym, NEW.suspended_at IS NULL) IS DISTINCT FROM
     (OLD.is_staff, OLD.is_superuser, OLD.is_active, OLD.pseudonym, OLD.suspended_at IS NULL)) THEN
    RAISE EXCEPTION 'only staff change the standing of an account' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_no_self_promotion BEFORE INSERT OR UPDATE ON accounts_user
  FOR EACH ROW EXECUTE FUNCTION accounts_no_self_promotion();
ALTER TABLE accounts_user ENABLE ALWAYS TRIGGER accounts_no_self_promotion;
CREATE FUNCTION accounts_no_self_verification() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'lingee_web' AND (TG_OP = 'INSERT' AND (NEW.state <> 'under_review' OR NEW.is_operator)
     OR TG_OP = 'UPDATE' AND (NEW.state, NEW.is_operator, NEW.lineage_id) IS DISTINCT FROM
                             (OLD.state, OLD.is_operator, OLD.lineage_id)) THEN
    RAISE EXCEPTION 'only staff change the standing of an organisation' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_no_self_verification BEFORE INSERT OR UPDATE ON accounts_organisation
  FOR EACH ROW EXECUTE FUNCTION accounts_no_self_verification();
ALTER TABLE accounts_organisation ENABLE ALWAYS TRIGGER accounts_no_self_verification;
"""
UNGUARDED = """
DROP TRIGGER accounts_no_self_promotion ON accounts_user; DROP FUNCTION accounts_no_self_promotion();
DROP TRIGGER accounts_no_self_verification ON accounts_organisation;
DROP FUNCTION accounts_no_self_verification();
"""


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
        migrations.RunSQL(NO_SELF_PROMOTION, UNGUARDED),
        grant("SELECT, INSERT, UPDATE", OWN, ["web", "console"]),
        grant("SELECT", DUTIES, ["web"]),
        grant("SELECT, INSERT, UPDATE, DELETE", DUTIES, ["console"]),
        grant("DELETE", ["accounts_membership"], ["web", "console"]),
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
