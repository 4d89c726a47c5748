"""The tick that carries rulings out orders regrades too, in the names of the two people who ruled."""

from django.db import migrations

from audit.database import grant


class Migration(migrations.Migration):
    dependencies = [("governance", "0008_corrections")]

    operations = [grant("INSERT", ["governance_regrading"], ["sealed"])]
