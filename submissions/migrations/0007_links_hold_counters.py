"""Who links two lineages on the console holds the counters of both, so that no admission slips between."""

from django.db import migrations

from audit.database import grant


class Migration(migrations.Migration):
    dependencies = [("submissions", "0006_owners_guarded")]

    operations = [grant("SELECT, INSERT, UPDATE", ["submissions_quotacounter"], ["console"])]
