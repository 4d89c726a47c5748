"""An episode is ready or it is not: no time before which it must wait was ever set."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0003_governed")]

    operations = [migrations.RemoveField("episode", "not_before")]
