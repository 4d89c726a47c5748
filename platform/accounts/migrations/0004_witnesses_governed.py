"""No witness is registered without an event. Here, because the function of governed tables is made by this app."""

from django.db import migrations

from audit.governed import governed


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_governed"), ("audit", "0002_transparency_log")]

    operations = [governed("audit_witness", subject="witness")]
