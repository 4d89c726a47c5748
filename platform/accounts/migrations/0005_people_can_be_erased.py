"""A key for each person, their name sealed under it, and the mark of those who were erased.

Names that stood in the open are dropped, not sealed: whoever migrates holds no key to seal them under. People, or
`accounts.services.set_name`, give them again.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from audit.database import grant
from audit.governed import governed, ungoverned

PSEUDONYM = ("accounts_user", "pseudonym")

STANDING = """
CREATE OR REPLACE FUNCTION accounts_no_self_promotion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'lingee_web' AND (TG_OP = 'INSERT' AND (NEW.is_staff OR NEW.is_superuser) OR TG_OP = 'UPDATE' AND
     (NEW.is_staff, NEW.is_superuser, NEW.is_active, NEW.pseudonym, NEW.suspended_at IS NULL, NEW.erased_at)
       IS DISTINCT FROM
     (OLD.is_staff, OLD.is_superuser, OLD.is_active, OLD.pseudonym, OLD.suspended_at IS NULL, OLD.erased_at)) THEN
    RAISE EXCEPTION 'only staff change the standing of an account' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.erased_at IS NOT NULL AND
     (NEW.erased_at IS NULL OR NEW.email <> OLD.email OR NEW.password <> OLD.password) THEN
    RAISE EXCEPTION 'nobody comes back who was erased' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_witnesses_governed")]

    operations = [
        ungoverned("accounts_user"),
        migrations.RemoveField("user", "display_name"),
        migrations.AddField("user", "sealed_name", models.BinaryField(blank=True, default=b"")),
        migrations.AddField("user", "erased_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddConstraint(
            "user",
            models.CheckConstraint(
                condition=models.Q(
                    ("erased_at__isnull", True),
                    models.Q(("is_active", False), ("sealed_name", b"")),
                    _connector="OR",
                ),
                name="erased_person_is_gone",
            ),
        ),
        migrations.CreateModel(
            name="PersonKey",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="person_key",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("wrapped_key", models.BinaryField()),
            ],
        ),
        migrations.RunSQL(STANDING, migrations.RunSQL.noop),
        governed("accounts_user", subject="account", id_column="pseudonym", besides=["last_login"]),
        governed("accounts_personkey", subject="account", id_column="user_id", through=PSEUDONYM),
        grant("SELECT, INSERT", ["accounts_personkey"], ["web", "console"]),
        grant("DELETE", ["accounts_personkey"], ["console"]),
    ]
