"""The mail to an owner is tried again with growing pauses, and given up at last, with an event."""

from django.db import migrations, models
from django.db.models import Q

from audit.database import grant
from audit.governed import governed, ungoverned

NOTICE = "submissions_ownernotice"
DUE = "UPDATE submissions_ownernotice SET mail_due_at = ordered_at WHERE sent_at IS NULL"
TRIED = "mail_due_at, mail_attempts, given_up_at"


class Migration(migrations.Migration):
    dependencies = [("submissions", "0011_halted_says_why")]

    operations = [
        ungoverned(NOTICE),
        migrations.AddField("ownernotice", "mail_due_at", models.DateTimeField(null=True, blank=True)),
        migrations.AddField("ownernotice", "mail_attempts", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("ownernotice", "given_up_at", models.DateTimeField(null=True, blank=True)),
        migrations.RunSQL(DUE, migrations.RunSQL.noop),
        migrations.AddConstraint(
            "ownernotice",
            models.CheckConstraint(
                condition=Q(mail_due_at__isnull=False, sent_at=None, given_up_at=None)
                | Q(mail_due_at=None, sent_at__isnull=False, given_up_at=None)
                | Q(mail_due_at=None, sent_at=None, given_up_at__isnull=False),
                name="owner_notice_due_sent_or_given_up",
            ),
        ),
        governed(
            NOTICE, subject="submission", id_column="submission_id", besides=("mail_due_at", "mail_attempts")
        ),
        grant(f"UPDATE ({TRIED})", [NOTICE], ["web", "console"]),
        grant("SELECT (given_up_at)", [NOTICE], ["auditor"]),
    ]
