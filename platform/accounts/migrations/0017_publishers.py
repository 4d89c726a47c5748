"""Trusted publishers, the credentials of their jobs, tokens that were used, and reviewed issuers."""

import datetime as dt

import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable
from audit.governed import governed

# Whatever writes: what was registered, issued or approved stays as it is, and a grant is bound once.
FIXED = """
CREATE FUNCTION accounts_publisher_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.ended_at IS NOT NULL OR to_jsonb(NEW) - ARRAY['ended_at', 'ended_by']
     IS DISTINCT FROM to_jsonb(OLD) - ARRAY['ended_at', 'ended_by'] THEN
    RAISE EXCEPTION 'a publisher is ended once and changes in nothing else' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_publisher_fixed BEFORE UPDATE ON accounts_trustedpublisher
  FOR EACH ROW EXECUTE FUNCTION accounts_publisher_fixed();
ALTER TABLE accounts_trustedpublisher ENABLE ALWAYS TRIGGER accounts_publisher_fixed;
CREATE FUNCTION accounts_grant_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.submission_id IS NOT NULL OR to_jsonb(NEW) - 'submission_id' IS DISTINCT FROM to_jsonb(OLD) - 'submission_id' THEN
    RAISE EXCEPTION 'a job''s credentials are bound once and change in nothing else'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_grant_fixed BEFORE UPDATE ON accounts_cigrant
  FOR EACH ROW EXECUTE FUNCTION accounts_grant_fixed();
ALTER TABLE accounts_cigrant ENABLE ALWAYS TRIGGER accounts_grant_fixed;
CREATE FUNCTION accounts_issuer_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  later text[] := ARRAY['approved_by', 'approved_at', 'ends_at', 'ended_by', 'ended_at'];
BEGIN
  IF OLD.ended_at IS NOT NULL OR to_jsonb(NEW) - later IS DISTINCT FROM to_jsonb(OLD) - later
     OR OLD.approved_at IS NOT NULL AND ROW(NEW.approved_by, NEW.approved_at, NEW.ends_at)
       IS DISTINCT FROM ROW(OLD.approved_by, OLD.approved_at, OLD.ends_at) THEN
    RAISE EXCEPTION 'a reviewed issuer is approved once, ended once and changes in nothing else'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_issuer_fixed BEFORE UPDATE ON accounts_reviewedissuer
  FOR EACH ROW EXECUTE FUNCTION accounts_issuer_fixed();
ALTER TABLE accounts_reviewedissuer ENABLE ALWAYS TRIGGER accounts_issuer_fixed;
"""
LOOSE = """
DROP TRIGGER accounts_publisher_fixed ON accounts_trustedpublisher; DROP FUNCTION accounts_publisher_fixed();
DROP TRIGGER accounts_grant_fixed ON accounts_cigrant; DROP FUNCTION accounts_grant_fixed();
DROP TRIGGER accounts_issuer_fixed ON accounts_reviewedissuer; DROP FUNCTION accounts_issuer_fixed();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0016_token_ends"),
    ]

    operations = [
        migrations.CreateModel(
            name="TrustedPublisher",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.opaque_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("harness_id", models.UUIDField()),
                ("issuer", models.CharField(max_length=255, verbose_name="issuer")),
                (
                    "dialect",
                    models.CharField(
                        choices=[("github", "GitHub Actions"), ("gitlab", "GitLab CI")], max_length=8
                    ),
                ),
                ("repository", models.CharField(max_length=255, verbose_name="repository")),
                ("owner_id", models.CharField(max_length=20, verbose_name="owner id")),
                ("workflow", models.CharField(max_length=255, verbose_name="workflow file")),
                ("ref", models.CharField(blank=True, max_length=255, verbose_name="branch or tag")),
                ("environment", models.CharField(blank=True, max_length=255, verbose_name="environment")),
                ("registered_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "ended_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="ended_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="publishers",
                        to="accounts.organisation",
                    ),
                ),
                (
                    "registered_by",
                    models.ForeignKey(
                        db_column="registered_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CiGrant",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.opaque_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("act_digest", models.CharField(max_length=64, unique=True)),
                ("act_expires_at", models.DateTimeField()),
                ("watch_digest", models.CharField(max_length=64, unique=True)),
                ("watch_expires_at", models.DateTimeField()),
                ("submission_id", models.UUIDField(blank=True, null=True)),
                ("issued_at", models.DateTimeField()),
                (
                    "publisher",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to="accounts.trustedpublisher",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="UsedIdentity",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("issuer", models.CharField(max_length=255)),
                ("jti", models.CharField(max_length=255)),
                ("used_at", models.DateTimeField()),
                ("kept_until", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["kept_until"], name="identity_by_age")],
                "constraints": [models.UniqueConstraint(fields=("issuer", "jti"), name="identity_used_once")],
            },
        ),
        migrations.CreateModel(
            name="ReviewedIssuer",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("address", models.CharField(max_length=255)),
                (
                    "dialect",
                    models.CharField(
                        choices=[("github", "GitHub Actions"), ("gitlab", "GitLab CI")], max_length=8
                    ),
                ),
                ("jwks", models.JSONField()),
                ("jwks_digest", models.CharField(max_length=64)),
                ("reason", models.TextField()),
                ("proposed_at", models.DateTimeField()),
                ("approved_at", models.DateTimeField(blank=True, null=True)),
                ("ends_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="approved_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="ended_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="issuers",
                        to="accounts.organisation",
                    ),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        db_column="proposed_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("approved_at__isnull", False), ("ended_at__isnull", True)),
                        fields=("address",),
                        name="issuer_reviewed_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("approved_at", None), ("approved_by", None), ("ends_at", None)),
                            models.Q(
                                ("approved_at__isnull", False),
                                ("approved_by__isnull", False),
                                ("ends_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="issuer_approved_by_somebody",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approved_by", None),
                            models.Q(("approved_by", models.F("proposed_by")), _negated=True),
                            _connector="OR",
                        ),
                        name="issuer_two_people",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ends_at", None),
                            (
                                "ends_at__lte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("approved_at"), "+", models.Value(dt.timedelta(days=90))
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="issuer_ninety_days",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("ended_by", None)),
                            models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="issuer_ended_by_somebody",
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="trustedpublisher",
            index=models.Index(fields=["issuer", "repository"], name="publisher_by_repository"),
        ),
        migrations.AddConstraint(
            model_name="trustedpublisher",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at__isnull", True)),
                fields=("harness_id", "issuer", "repository", "owner_id", "workflow", "ref", "environment"),
                name="publisher_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="trustedpublisher",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("ended_by", None)),
                    models.Q(("ended_at__isnull", False), ("ended_by__isnull", False)),
                    _connector="OR",
                ),
                name="publisher_ended_by_somebody",
            ),
        ),
        migrations.RunSQL(FIXED, LOOSE),
        governed("accounts_trustedpublisher", subject="publisher"),
        governed("accounts_cigrant", subject="ci_grant"),
        governed("accounts_reviewedissuer", subject="issuer"),
        *(
            immutable(table, name=name, message="this stays on record", operations="DELETE")
            for table, name in (
                ("accounts_trustedpublisher", "accounts_publisher_kept"),
                ("accounts_cigrant", "accounts_grant_kept"),
                ("accounts_reviewedissuer", "accounts_issuer_kept"),
            )
        ),
        grant(
            "SELECT, INSERT",
            ["accounts_trustedpublisher", "accounts_cigrant", "accounts_usedidentity"],
            ["web"],
        ),
        grant("UPDATE (ended_at, ended_by)", ["accounts_trustedpublisher"], ["web"]),
        grant("UPDATE (submission_id)", ["accounts_cigrant"], ["web"]),
        grant("DELETE", ["accounts_usedidentity"], ["web"]),
        grant("SELECT", ["accounts_reviewedissuer"], ["web"]),
        grant("SELECT", ["accounts_trustedpublisher"], ["console"]),
        grant("SELECT, INSERT", ["accounts_reviewedissuer"], ["console"]),
        grant(
            "UPDATE (approved_by, approved_at, ends_at, ended_by, ended_at)",
            ["accounts_reviewedissuer"],
            ["console"],
        ),
        grant(
            "SELECT (id, organisation_id, harness_id, registered_by, ended_by, ended_at)",
            ["accounts_trustedpublisher"],
            ["auditor"],
        ),
        grant(
            "SELECT (id, publisher_id, act_expires_at, watch_expires_at, submission_id)",
            ["accounts_cigrant"],
            ["auditor"],
        ),
        grant(
            "SELECT (id, organisation_id, jwks_digest, proposed_by, proposed_at, approved_by, approved_at, ends_at, "
            "ended_by, ended_at)",
            ["accounts_reviewedissuer"],
            ["auditor"],
        ),
    ]
