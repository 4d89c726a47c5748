"""The console repeats what a run lost: the run begins to wait anew."""

from django.db import migrations

from audit.database import grant


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0015_cancelled_attempts")]

    operations = [grant("UPDATE (served_at)", ["evaluation_runshare"], ["console"])]
