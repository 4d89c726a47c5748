"""What states, turns and results of appeals are called, and what comes next."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from governance.appeals.policies import Owner, State

NEXT: dict[str, Promise] = {
    State.FILED: _("An arbiter or an evaluation engineer looks whether it can be examined."),
    State.ADMITTED: _("A business expert and an evaluation engineer without ties to the case are named."),
    State.ASSIGNED: _("The two gather the evidence, and a ruling is drafted."),
    State.DRAFTED: _("Another person, an arbiter, approves the ruling or sends it back."),
    State.RULED: _("What the ruling orders is carried out by the platform."),
    State.CARRIED_OUT: _("Nothing: everything that the ruling orders is done."),
    State.INADMISSIBLE: _("Nothing: it was not examined. Another appeal can be filed while there is time."),
    State.WITHDRAWN: _("Nothing: your organisation withdrew it."),
}
TURNS: dict[str, Promise] = {
    Owner.DECIDERS: _("arbiters and evaluation engineers"),
    Owner.ASSIGNED: _("the business expert and the evaluation engineer of this appeal"),
    Owner.SECOND: _("an arbiter who did not draft the ruling"),
    Owner.PLATFORM: _("the platform"),
    Owner.OUTSIDE: _("an arbiter from outside the operator"),
    Owner.ENGINEERS: _("evaluation engineers"),
}
RESULTS: dict[str, Promise] = {
    "": _("to be done"),
    "done": _("done"),
    "nothing_to_do": _("nothing was left to do"),
    "by_hand": _("ordered; the staff carry it out by hand"),
}
STEPS = (State.FILED, State.ADMITTED, State.ASSIGNED, State.DRAFTED, State.RULED, State.CARRIED_OUT)
"""The way of an appeal that is ruled on."""
