"""Why a domain has no value, what an answer can tell at most, and the rules of a version for both."""

import django.db.models.deletion
from django.db import migrations, models

import config.ids
from audit.database import grant, immutable
from audit.governed import governed, ungoverned


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0021_erasure_requests"),
        ("benchmark", "0004_commitments"),
        ("governance", "0004_run_commitments"),
        ("submissions", "0011_halted_says_why"),
    ]

    operations = [
        migrations.CreateModel(
            name="LeakAccount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LeakCharge",
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
                            ("result", "result"),
                            ("confirmation", "confirmation run"),
                            ("correction", "correction of an error of the platform"),
                        ],
                        max_length=16,
                    ),
                ),
                ("millibits", models.PositiveIntegerField()),
                ("charged_at", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="domainaggregate",
            name="earlier",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="submissions.submission",
            ),
        ),
        migrations.AddField(
            model_name="domainaggregate",
            name="reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("no_valid_run", "No run of this domain is valid"),
                    ("repeat", "Answers every task as an earlier submission did"),
                    (
                        "near_duplicate",
                        "Behaves like an earlier version on all but a few tasks; its own value is not reported",
                    ),
                    ("ladder", "Does not beat the best value so far by more than chance explains"),
                    ("budget", "The information budget of this version is spent"),
                ],
                db_default="",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="releasepolicy",
            name="budget_millibits",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="releasepolicy",
            name="confirmation_millibits",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="releasepolicy",
            name="fewest_changed",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AlterField(
            model_name="releasepolicy",
            name="rule",
            field=models.CharField(
                choices=[
                    ("grid", "each submission shows its own value on the grid"),
                    (
                        "growing-ladder",
                        "a value is shown only if it beats the best one by more than chance explains",
                    ),
                ],
                default="grid",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="domainaggregate",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("earlier", None), ("reason", ""), ("status", "reported")),
                    models.Q(
                        ("earlier", None),
                        ("reason__in", ("", "no_valid_run", "budget")),
                        ("status", "not_reportable"),
                    ),
                    models.Q(
                        ("earlier__isnull", False),
                        ("reason__in", ("repeat", "near_duplicate", "ladder")),
                        ("status", "not_reportable"),
                    ),
                    _connector="OR",
                ),
                name="domain_reason_only_where_not_reported",
            ),
        ),
        migrations.AddConstraint(
            model_name="releasepolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("budget_millibits", None),
                        ("confirmation_millibits", None),
                        ("fewest_changed", None),
                        ("rule", "grid"),
                    ),
                    models.Q(
                        ("budget_millibits__gte", 1),
                        ("confirmation_millibits__gte", 1),
                        ("fewest_changed__gte", 1),
                        ("rule__in", ("grid", "growing-ladder")),
                    ),
                    _connector="OR",
                ),
                name="release_policy_gate_and_budget",
            ),
        ),
        migrations.AddField(
            model_name="leakaccount",
            name="lineage",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.lineage"
            ),
        ),
        migrations.AddField(
            model_name="leakaccount",
            name="task_set",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="benchmark.tasksetversion"
            ),
        ),
        migrations.AddField(
            model_name="leakcharge",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.organisation"
            ),
        ),
        migrations.AddField(
            model_name="leakcharge",
            name="submission",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="leak_charges",
                to="submissions.submission",
            ),
        ),
        migrations.AddField(
            model_name="leakcharge",
            name="task_set",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="benchmark.tasksetversion"
            ),
        ),
        migrations.AddConstraint(
            model_name="leakaccount",
            constraint=models.UniqueConstraint(fields=("task_set", "lineage"), name="leak_account_once"),
        ),
        migrations.AddConstraint(
            model_name="leakcharge",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ("result", "confirmation"))),
                fields=("submission", "kind"),
                name="leak_charge_once",
            ),
        ),
        immutable(
            "governance_leakcharge", name="leak_charge_immutable", message="what was told stays charged"
        ),
        ungoverned("governance_releasepolicy"),
        governed("governance_releasepolicy", subject="release_policy"),
        ungoverned("governance_domainaggregate"),
        governed(
            "governance_domainaggregate",
            subject="submission",
            id_column="release_id",
            through=("governance_release", "submission_id"),
        ),
        governed("governance_leakcharge", subject="submission", id_column="submission_id"),
        grant("SELECT, INSERT, UPDATE", ["governance_leakaccount"], ["sealed"]),
        grant("SELECT, INSERT", ["governance_leakcharge"], ["sealed"]),
        grant("SELECT", ["governance_leakcharge"], ["web", "console", "auditor"]),
    ]
