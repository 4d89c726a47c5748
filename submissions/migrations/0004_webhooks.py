"""Webhooks and their messages. Who moves submissions adds messages; only processes that serve people read secrets."""

import django.db.models.deletion
from django.db import migrations, models

import config.ids
from audit.database import grant
from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0015_registration_rules"),
        ("submissions", "0003_governed"),
    ]

    operations = [
        migrations.CreateModel(
            name="WebhookEndpoint",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("url", models.CharField(max_length=500)),
                ("kinds", models.JSONField(default=list)),
                ("sealed_secret", models.BinaryField()),
                ("wrapped_key", models.BinaryField()),
                ("created_at", models.DateTimeField()),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("disabled_at", models.DateTimeField(blank=True, null=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="webhooks",
                        to="accounts.organisation",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
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
                ("body", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("last_at", models.DateTimeField(blank=True, null=True)),
                ("last_status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("last_fault", models.CharField(blank=True, default="", max_length=20)),
                ("delivered_at", models.DateTimeField(blank=True, null=True)),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="submissions.webhookendpoint",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="webhookendpoint",
            index=models.Index(
                condition=models.Q(("disabled_at", None), ("removed_at", None)),
                fields=["organisation"],
                name="webhook_live",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookendpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("removed_at", None),
                    models.Q(("sealed_secret", b""), ("url", ""), ("wrapped_key", b"")),
                    _connector="OR",
                ),
                name="removed_webhook_is_empty",
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name="webhook_delivery_due"
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["endpoint", "-id"], name="webhook_delivery_of"),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.UniqueConstraint(
                fields=("endpoint", "kind", "subject", "occasion"), name="webhook_message_once"
            ),
        ),
        governed("submissions_webhookendpoint", subject="webhook", besides=["failing_since"]),
        grant("SELECT, INSERT, UPDATE", ["submissions_webhookendpoint"], ["web"]),
        grant(
            "SELECT (id, organisation_id, kinds, disabled_at, removed_at)",
            ["submissions_webhookendpoint"],
            ["console", "sealed", "auditor"],
        ),
        grant("SELECT, INSERT, UPDATE, DELETE", ["submissions_webhookdelivery"], ["web"]),
        grant("INSERT", ["submissions_webhookdelivery"], ["console", "sealed"]),
    ]
