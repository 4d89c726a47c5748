"""Who may give, lift and see orders to the fleet, and that none is given or lifted without an event.

The web process learns whether a switch is off, and not why.
"""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

PAUSE, ORDER, QUARANTINE = (
    "evaluation_pause",
    "evaluation_fleetorder",
    "evaluation_episodequarantine",
)
LIFT = "UPDATE (lifted_by, lifted_at, lift_reason)"
EPISODE = "UPDATE (state, fence, lease_until, attempts, grading_attempts)"


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0009_fleet_orders")]

    operations = [
        governed(PAUSE, subject="pause"),
        governed(ORDER, subject="fleet order"),
        governed(QUARANTINE, subject="quarantine"),
        *(
            immutable(table, name=f"{table}_kept", message="an order stays on record", operations="DELETE")
            for table in (PAUSE, ORDER, QUARANTINE)
        ),
        grant("SELECT (id, switch, ordered_at, lifted_at)", [PAUSE], ["web"]),
        grant("SELECT", [PAUSE, ORDER], ["execute"]),
        grant(f"SELECT, INSERT, {LIFT}", [PAUSE, ORDER, QUARANTINE], ["sealed", "console"]),
        # Setting an episode apart voids the claim on it, and ends its attempt.
        grant(EPISODE, ["evaluation_episode"], ["console"]),
        grant("UPDATE", ["evaluation_attempt"], ["console"]),
        grant("UPDATE (state, missing, executed_at, ended_at)", ["evaluation_evaluationrun"], ["console"]),
        grant("SELECT", [PAUSE, ORDER, QUARANTINE], ["auditor"]),
    ]
