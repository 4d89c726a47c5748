"""Registrations of organisations with their evidence, accepted rules, and until when a verification holds."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.governed import governed, ungoverned


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0013_audit_rooms"),
    ]

    operations = [
        migrations.CreateModel(
            name="Registration",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("filed_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("filed", "to be reviewed"),
                            ("proposed", "to be confirmed"),
                            ("verified", "verified"),
                            ("refused", "refused"),
                            ("more_asked", "more information needed"),
                        ],
                        default="filed",
                        max_length=16,
                    ),
                ),
                ("domain", models.CharField(max_length=253)),
                (
                    "domain_method",
                    models.CharField(
                        blank=True,
                        choices=[("", "not confirmed"), ("mail", "by e-mail"), ("dns", "by DNS record")],
                        default="",
                        max_length=8,
                    ),
                ),
                ("domain_confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("name_mark", models.CharField(max_length=64)),
                ("number_mark", models.CharField(max_length=64)),
                ("domain_mark", models.CharField(max_length=64)),
                ("evidence_files", models.PositiveSmallIntegerField()),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[("verify", "verify"), ("refuse", "refuse"), ("more", "ask for more")],
                        default="",
                        max_length=8,
                    ),
                ),
                (
                    "ground",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "no objection"),
                            ("not_in_register", "not found in the register"),
                            ("data_differ", "data differ from the register or the evidence"),
                            ("evidence_insufficient", "evidence is missing, unreadable or out of date"),
                            ("domain_not_confirmed", "control of the domain is not confirmed"),
                            ("contact_not_entitled", "the contact is not shown to act for the organisation"),
                            ("already_registered", "the organisation is registered already"),
                            ("other", "another reason, in the text below"),
                        ],
                        default="",
                        max_length=32,
                    ),
                ),
                ("words", models.TextField(blank=True, default="")),
                ("proposed_at", models.DateTimeField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        db_column="decided_by",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "filed_by",
                    models.ForeignKey(
                        db_column="filed_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
        ),
        ungoverned("accounts_organisation"),
        migrations.AddField(
            model_name="organisation",
            name="verified_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        governed("accounts_organisation", subject="organisation"),
        migrations.CreateModel(
            name="RegistrationDetails",
            fields=[
                (
                    "registration",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="details",
                        serialize=False,
                        to="accounts.registration",
                    ),
                ),
                ("wrapped_key", models.BinaryField()),
                ("sealed_organisation", models.BinaryField()),
                ("sealed_contact", models.BinaryField()),
            ],
        ),
        migrations.AddField(
            model_name="registration",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="registrations",
                to="accounts.organisation",
            ),
        ),
        migrations.AddField(
            model_name="registration",
            name="proposed_by",
            field=models.ForeignKey(
                blank=True,
                db_column="proposed_by",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                to_field="pseudonym",
            ),
        ),
        migrations.CreateModel(
            name="RegistrationEvidence",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[("application/pdf", "PDF"), ("image/png", "PNG"), ("image/jpeg", "JPEG")],
                        max_length=16,
                    ),
                ),
                ("size", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                (
                    "registration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="accounts.registration",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RuleAcceptance",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.CharField(max_length=16)),
                ("digest", models.CharField(max_length=64)),
                ("accepted_at", models.DateTimeField()),
                (
                    "accepted_by",
                    models.ForeignKey(
                        db_column="accepted_by",
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
                        related_name="rule_acceptances",
                        to="accounts.organisation",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="registration",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("filed", "proposed"))),
                fields=("organisation",),
                name="registration_under_way_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="registration",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("decided_by", None),
                    models.Q(("decided_by", models.F("proposed_by")), _negated=True),
                    _connector="OR",
                ),
                name="registration_two_people",
            ),
        ),
        migrations.AddConstraint(
            model_name="registration",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("decided_by", None), ("proposed_by", None), ("state", "filed"), ("verdict", "")
                    ),
                    models.Q(("decided_by", None), ("proposed_by__isnull", False), ("state", "proposed")),
                    models.Q(
                        ("decided_by__isnull", False),
                        ("domain_confirmed_at__isnull", False),
                        ("proposed_by__isnull", False),
                        ("state", "verified"),
                        ("verdict", "verify"),
                    ),
                    models.Q(
                        ("decided_by__isnull", False),
                        ("proposed_by__isnull", False),
                        ("state", "refused"),
                        ("verdict", "refuse"),
                    ),
                    models.Q(
                        ("decided_by__isnull", False),
                        ("proposed_by__isnull", False),
                        ("state", "more_asked"),
                        ("verdict", "more"),
                    ),
                    _connector="OR",
                ),
                name="registration_state_by_two",
            ),
        ),
        migrations.AddConstraint(
            model_name="registration",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("domain_confirmed_at", None), ("domain_method", "")),
                    models.Q(("domain_confirmed_at__isnull", False), ("domain_method__in", ("mail", "dns"))),
                    _connector="OR",
                ),
                name="registration_domain_confirmed",
            ),
        ),
        migrations.AddConstraint(
            model_name="registrationevidence",
            constraint=models.UniqueConstraint(
                fields=("registration", "number"), name="registration_evidence_numbered"
            ),
        ),
        migrations.AddConstraint(
            model_name="registrationevidence",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("number__gte", 1), ("number__lte", 5), ("size__gte", 1), ("size__lte", 10485760)
                ),
                name="registration_evidence_limits",
            ),
        ),
        migrations.AddConstraint(
            model_name="ruleacceptance",
            constraint=models.UniqueConstraint(
                fields=("organisation", "version"), name="rules_accepted_once"
            ),
        ),
    ]
