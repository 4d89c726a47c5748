"""Appeals, who handles them, drafts, rulings and their effects, and arbiters from outside."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import config.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0024_link_parting_rules"),
        ("benchmark", "0004_commitments"),
        ("submissions", "0014_content_of_packages"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Appeal",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "subject",
                    models.CharField(
                        choices=[
                            ("quota", "a decision about the quota"),
                            ("fault", "a fault of the platform"),
                            ("score", "the score of a domain"),
                            ("rule", "how a rule is read"),
                            ("hold", "a hold of a result"),
                            ("rotation", "a notice about rotation"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "domain",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("general", "General"),
                            ("finance", "Finance"),
                            ("supply_chain", "Supply chain"),
                            ("manufacturing", "Manufacturing"),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                ("grounds", models.TextField()),
                ("facts", models.JSONField(default=dict)),
                ("commitment", models.CharField(blank=True, default="", max_length=64)),
                ("filed_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("filed", "filed"),
                            ("admitted", "admitted"),
                            ("assigned", "being examined"),
                            ("drafted", "ruling being approved"),
                            ("ruled", "ruled on"),
                            ("carried_out", "ruled and carried out"),
                            ("inadmissible", "inadmissible"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="filed",
                        max_length=12,
                    ),
                ),
                ("state_since", models.DateTimeField()),
                ("cause", models.CharField(default="filed", max_length=24)),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("escalations", models.PositiveSmallIntegerField(default=0)),
                ("admitted_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
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
                (
                    "lineage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.lineage"
                    ),
                ),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="appeals",
                        to="accounts.organisation",
                    ),
                ),
                (
                    "submission",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="appeals",
                        to="submissions.submission",
                    ),
                ),
                (
                    "task_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="benchmark.tasksetversion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Ruling",
            fields=[
                (
                    "appeal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="ruling",
                        serialize=False,
                        to="appeals.appeal",
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("upheld", "upheld"),
                            ("partly", "upheld in part"),
                            ("rejected", "rejected"),
                            ("inadmissible", "inadmissible"),
                        ],
                        max_length=12,
                    ),
                ),
                ("text", models.TextField()),
                ("ruled_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("outcome", models.CharField(max_length=12)),
                ("text", models.TextField()),
                ("effects", models.JSONField(default=list)),
                ("proposed_at", models.DateTimeField()),
                (
                    "decision",
                    models.CharField(
                        choices=[
                            ("open", "waits for approval"),
                            ("approved", "approved"),
                            ("sent_back", "sent back"),
                        ],
                        default="open",
                        max_length=12,
                    ),
                ),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("remark", models.TextField(blank=True, default="")),
                (
                    "appeal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drafts",
                        to="appeals.appeal",
                    ),
                ),
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
        ),
        migrations.CreateModel(
            name="OutsideArbiter",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        db_column="person",
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                ("declaration", models.CharField(max_length=64)),
                ("named_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        db_column="confirmed_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "named_by",
                    models.ForeignKey(
                        db_column="named_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RuledEffect",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=config.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("refund", "the use of the quota is returned"),
                            ("cooldown", "the cooldown is ended"),
                            ("lift_hold", "the hold is lifted as a false alarm"),
                            ("regrade", "the submission is graded again, as a separate result"),
                            ("problem", "the problem queue has an entry"),
                            ("line", "a line stands in the public change log"),
                        ],
                        max_length=12,
                    ),
                ),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                ("result", models.CharField(blank=True, default="", max_length=24)),
                ("reference", models.CharField(blank=True, default="", max_length=40)),
                (
                    "appeal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="effects",
                        to="appeals.appeal",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Handling",
            fields=[
                (
                    "appeal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="handling",
                        serialize=False,
                        to="appeals.appeal",
                    ),
                ),
                ("named_at", models.DateTimeField()),
                ("opinion", models.TextField(blank=True, default="")),
                ("opinion_at", models.DateTimeField(blank=True, null=True)),
                ("notes", models.TextField(blank=True, default="")),
                ("notes_at", models.DateTimeField(blank=True, null=True)),
                (
                    "engineer",
                    models.ForeignKey(
                        db_column="engineer",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "expert",
                    models.ForeignKey(
                        db_column="expert",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
                (
                    "named_by",
                    models.ForeignKey(
                        db_column="named_by",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        to_field="pseudonym",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="appeal",
            index=models.Index(
                condition=models.Q(("due_at", None), _negated=True), fields=["due_at"], name="appeal_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="appeal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("due_at", None),
                        ("ended_at__isnull", False),
                        ("state__in", ["carried_out", "inadmissible", "withdrawn"]),
                    ),
                    models.Q(
                        models.Q(("state__in", ["carried_out", "inadmissible", "withdrawn"]), _negated=True),
                        ("due_at__isnull", False),
                        ("ended_at", None),
                    ),
                    _connector="OR",
                ),
                name="appeal_open_has_deadline",
            ),
        ),
        migrations.AddConstraint(
            model_name="appeal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("subject", "score"),
                        models.Q(("domain", ""), _negated=True),
                        models.Q(("commitment", ""), _negated=True),
                        ("submission__isnull", False),
                    ),
                    models.Q(
                        models.Q(("subject", "score"), _negated=True), ("commitment", ""), ("domain", "")
                    ),
                    _connector="OR",
                ),
                name="appeal_score_has_its_domain",
            ),
        ),
        migrations.AddConstraint(
            model_name="appeal",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["carried_out", "inadmissible", "withdrawn"]), _negated=True),
                    ("submission__isnull", False),
                ),
                fields=("submission", "subject", "domain"),
                name="appeal_one_open_of_each",
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.UniqueConstraint(
                fields=("appeal", "number"), name="appeal_draft_numbered_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.UniqueConstraint(
                condition=models.Q(("decision", "open")), fields=("appeal",), name="appeal_draft_one_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("decided_by", None),
                    models.Q(("decided_by", models.F("proposed_by")), _negated=True),
                    _connector="OR",
                ),
                name="appeal_two_people",
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at", None), ("decided_by", None), ("decision", "open")),
                    models.Q(
                        ("decided_at__isnull", False),
                        ("decided_by__isnull", False),
                        ("decision__in", ("approved", "sent_back")),
                    ),
                    _connector="OR",
                ),
                name="appeal_draft_decided_by_somebody",
            ),
        ),
        migrations.AddConstraint(
            model_name="outsidearbiter",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("named_by", models.F("confirmed_by")), _negated=True),
                    models.Q(("person", models.F("named_by")), _negated=True),
                    models.Q(("person", models.F("confirmed_by")), _negated=True),
                ),
                name="outsider_two_people",
            ),
        ),
        migrations.AddConstraint(
            model_name="ruledeffect",
            constraint=models.UniqueConstraint(fields=("appeal", "kind"), name="appeal_effect_once"),
        ),
        migrations.AddConstraint(
            model_name="handling",
            constraint=models.CheckConstraint(
                condition=models.Q(("expert", models.F("engineer")), _negated=True), name="appeal_two_examine"
            ),
        ),
    ]
