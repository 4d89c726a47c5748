"""No submission waits or ends without a code that says why; every move has given one."""

from django.db import migrations, models
from django.db.models import Q

HALTED = (
    "paused",
    "awaiting_choice",
    "held",
    "complete",
    "rejected",
    "preflight_failed",
    "cancelled",
    "incomplete",
    "voided",
)


class Migration(migrations.Migration):
    dependencies = [("submissions", "0010_returns_of_uses")]

    operations = [
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=~Q(state__in=HALTED) | ~Q(reason_code=""), name="halted_submission_says_why"
            ),
        ),
    ]
