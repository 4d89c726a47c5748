"""Which models of a run were answered by another than the pinned one: stored when it ends, for its result."""

from django.db import migrations, models

from audit.governed import governed, ungoverned

RUN = "evaluation_evaluationrun"


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0018_model_calls_guarded")]

    operations = [
        ungoverned(RUN),
        migrations.AddField(
            "evaluationrun", "served_otherwise", models.JSONField(db_default=[], default=list)
        ),
        governed(RUN, subject="run", besides=["quarter", "quarter_at"]),
    ]
