"""A link that proves false can be undone: what the case says about it, and what it had moved."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0022_tokens_end_with_leaving"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="linkcase",
            name="link_state_by_two",
        ),
        migrations.AddField(
            model_name="linkcase",
            name="moved",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="linkcase",
            name="parted_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="linkcase",
            name="parted_by",
            field=models.ForeignKey(
                blank=True,
                db_column="parted_by",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                to_field="pseudonym",
            ),
        ),
        migrations.AddField(
            model_name="linkcase",
            name="parting_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="linkcase",
            name="parting_by",
            field=models.ForeignKey(
                blank=True,
                db_column="parting_by",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                to_field="pseudonym",
            ),
        ),
        migrations.AddField(
            model_name="linkcase",
            name="parting_reason",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="linkcase",
            name="state",
            field=models.CharField(
                choices=[
                    ("open", "to be reviewed"),
                    ("proposed", "to be confirmed"),
                    ("linked", "linked"),
                    ("cleared", "cleared"),
                    ("parting", "linked, to be parted"),
                    ("parted", "parted again"),
                ],
                default="open",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="linkcase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_by", None), ("proposed_by", None), ("state", "open"), ("verdict", "")),
                    models.Q(("decided_by", None), ("proposed_by__isnull", False), ("state", "proposed")),
                    models.Q(
                        ("decided_by__isnull", False),
                        ("proposed_by__isnull", False),
                        ("state__in", ("linked", "parting", "parted")),
                        ("verdict", "link"),
                    ),
                    models.Q(
                        ("decided_by__isnull", False),
                        ("proposed_by__isnull", False),
                        ("state", "cleared"),
                        ("verdict", "clear"),
                    ),
                    _connector="OR",
                ),
                name="link_state_by_two",
            ),
        ),
        migrations.AddConstraint(
            model_name="linkcase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("parted_by__isnull", False), ("parting_by__isnull", False), ("state", "parted")
                    ),
                    models.Q(("parted_by", None), ("parting_by__isnull", False), ("state", "parting")),
                    models.Q(
                        models.Q(("state__in", ("parting", "parted")), _negated=True),
                        ("parted_by", None),
                        ("parting_by", None),
                    ),
                    _connector="OR",
                ),
                name="link_parted_by_two",
            ),
        ),
        migrations.AddConstraint(
            model_name="linkcase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("parted_by", None),
                    models.Q(("parted_by", models.F("parting_by")), _negated=True),
                    _connector="OR",
                ),
                name="link_parting_two_people",
            ),
        ),
    ]
