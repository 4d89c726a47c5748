"""What the causes of a confirmation run and its side figures are called."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from governance.confirmation.policies import Cause

CAUSES: dict[str, Promise] = {
    Cause.ASKED: _("Asked for; the consent to publish is given"),
    Cause.ALLOWED: _("Nothing stands in the way of publication; it waits for its turn"),
    Cause.STARTED: _("Held-out tasks are run once more, with fresh seeds"),
    Cause.EXECUTED: _("All runs are executed"),
    Cause.GRADED: _("Graded and sealed; shown with the next dated release"),
    Cause.WITHDRAWN_BY_VENDOR: _("Withdrawn by your organisation"),
    Cause.CONSENT_WITHDRAWN: _("The consent to publish was withdrawn"),
    Cause.OWNER_OBJECTED: _("The owner of the harness objected to publication"),
    Cause.RUNS_LOST: _("The platform lost runs and could not repeat them in time"),
    Cause.NOT_ALLOWED_IN_TIME: _("The owner's rights held it up for too long"),
    Cause.NOT_STARTED_IN_TIME: _("It could not be started in time"),
    Cause.NOT_GRADED_IN_TIME: _("It could not be graded in time"),
    Cause.BUDGET_SPENT: _("The information budget of this version does not cover its result any more"),
}

SIDES: dict[str, Promise] = {
    "success": _("Success"),
    "reliability": _("Success in every run"),
    "tokens": _("Tokens a task"),
    "seconds": _("Seconds a task"),
}
