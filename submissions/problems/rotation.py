"""Why the rotation queue or a plan stays as it is. For staff."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

ROWS: list[Row] = [
    (
        Code.ROTATION_MOVED_ON,
        409,
        Fault.REQUEST,
        _("Somebody was faster"),
        _("This was proposed or decided meanwhile, or is not at that step."),
        _("Look again."),
    ),
    (
        Code.ROTATION_QUEUED_ALREADY,
        409,
        Fault.REQUEST,
        _("In the queue already"),
        _("This task has an entry that is not at its end."),
        _("Decide about that entry."),
    ),
    (
        Code.ROTATION_NOT_HELD_OUT,
        422,
        Fault.REQUEST,
        _("Not held out"),
        _("Only a held-out task of a frozen version can rotate."),
        _("Give the id of one."),
    ),
    (
        Code.ROTATION_NO_GROUND,
        422,
        Fault.REQUEST,
        _("A ground is missing"),
        _(
            "A task is retired because it is contaminated, distorted or outdated; the retirement list says which."
        ),
        _("Choose one of the three."),
    ),
    (
        Code.ROTATION_SEED,
        422,
        Fault.REQUEST,
        _("Another seed"),
        _("The seed must have at least 16 characters and the SHA-256 that was committed."),
        _("Give the seed that was committed, or discard the plan and commit another."),
    ),
    (
        Code.ROTATION_NO_PROFILE,
        409,
        Fault.REQUEST,
        _("No difficulty profile"),
        _("Held-out tasks and reserve are matched by one profiling of both, and there is none."),
        _("Run manage.py rotation profile first."),
    ),
    (
        Code.ROTATION_RESERVE_SHORT,
        409,
        Fault.REQUEST,
        _("The reserve is too small"),
        _("Fewer tasks lie in the reserve of a domain than leave it."),
        _("Import more reserve tasks and profile them."),
    ),
    (
        Code.ROTATION_CHECKS_FAILED,
        409,
        Fault.REQUEST,
        _("The replacement is not accepted"),
        _("Tasks that leave and tasks that come are not alike enough."),
        _("Discard the plan, add to the reserve, and draw again."),
    ),
    (
        Code.ROTATION_PLANNED_ALREADY,
        409,
        Fault.REQUEST,
        _("A plan is there already"),
        _("A version has one plan under way at a time."),
        _("Finish or discard that plan."),
    ),
]
