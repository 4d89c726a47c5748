"""No run changes and no attempt ends without an event; claims, lease renewals and coarse progress need none."""

from django.db import migrations

from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0002_grants"), ("accounts", "0003_governed")]

    operations = [
        governed("evaluation_evaluationrun", subject="run", besides=["quarter", "quarter_at"]),
        governed("evaluation_attempt", subject="attempt", inserted_when="NEW.ended_at IS NOT NULL"),
    ]
