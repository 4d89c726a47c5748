"""When a version opens: a re-run outside its quota for each combination published on the former one.

The former version is the one that a stated succession names. What stands in a dated release from before the opening
was published on it; what is published there later is not offered again.
"""

from __future__ import annotations

from audit.events import Actor
from governance.confirmation.published import published_on
from governance.rotation.models import Succession
from submissions.reruns import services


def offer_due(*, by: Actor) -> int:
    """Make the offers of every version that is open and follows another one; how many. Again it makes none."""
    steps = Succession.objects.filter(next__opened_at__isnull=False, next__closed_at=None)
    made = 0
    for step in steps.select_related("former", "next"):
        assert step.next.opened_at is not None
        for submission in published_on(step.former, before=step.next.opened_at, unless_offered_on=step.next):
            made += services.make(submission, step.next, by=by) is not None
    return made
