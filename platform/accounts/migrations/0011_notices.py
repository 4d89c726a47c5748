"""Notices to people and what they want by mail: no business state, so no event. Office workers only add them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids
from audit.database import grant


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_ended_is_ended"),
    ]

    operations = [
        migrations.CreateModel(
            name="NoticePreference",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="notice_preference",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("silent", models.JSONField(default=list)),
                ("scores_in_mail", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("subject", models.CharField(max_length=64)),
                ("occasion", models.CharField(blank=True, default="", max_length=64)),
                ("facts", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("mail_due_at", models.DateTimeField(blank=True, null=True)),
                ("mail_attempts", models.PositiveSmallIntegerField(default=0)),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organisation",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.organisation",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["person", "-id"], name="notice_of_person"),
                    models.Index(
                        condition=models.Q(("mail_due_at__isnull", False)),
                        fields=["mail_due_at"],
                        name="notice_mail_due",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("person", "kind", "subject", "occasion"), name="notice_once_each"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("mailed_at", None), ("mail_due_at", None), _connector="OR"),
                        name="notice_mailed_is_not_due",
                    ),
                ],
            },
        ),
        grant("SELECT, INSERT, DELETE", ["accounts_notice"], ["web", "console"]),
        grant(
            "UPDATE (read_at, mail_due_at, mail_attempts, mailed_at)", ["accounts_notice"], ["web", "console"]
        ),
        grant("SELECT, INSERT, UPDATE, DELETE", ["accounts_noticepreference"], ["web", "console"]),
        grant("SELECT, INSERT", ["accounts_notice"], ["sealed"]),
        grant("SELECT", ["accounts_noticepreference"], ["sealed"]),
    ]
