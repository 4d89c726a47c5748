"""No task-set version changes without an event; the events name the digest of all its tasks."""

from django.db import migrations

from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0002_freezing"), ("accounts", "0003_governed")]

    operations = [governed("benchmark_tasksetversion", subject="task_set")]
