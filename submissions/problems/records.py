"""Why something is not entered into the public records of a version, or into its problem queue."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

ROWS: list[Row] = [
    (
        Code.LINE_LEAKS,
        422,
        Fault.REQUEST,
        _("The text could give something away"),
        _("The check found %(findings)s in a text that is meant for the public or a vendor."),
        _("Say it without naming tasks, families, counts, exact figures or other vendors."),
    ),
    (
        Code.LINE_FACTS,
        422,
        Fault.REQUEST,
        _("The facts do not fit the kind of line"),
        _("A line of the kind %(line)s is not made of these facts: %(why)s."),
        _("Give the facts that its kind lists, and no others."),
    ),
    (
        Code.LINE_TASK_LIVE,
        409,
        Fault.POLICY,
        _("The task is still held out"),
        _("The task stands in the held-out group of %(task_set)s, which is open."),
        _("Name it once every version that holds it out is closed."),
    ),
    (
        Code.PROBLEM_FACTS,
        422,
        Fault.REQUEST,
        _("Something is missing"),
        _(
            "A problem needs a part, a source and evidence, a move of it a reason; a task is one of its version."
        ),
        _("Fill in what is missing."),
    ),
    (
        Code.PROBLEM_MOVE,
        409,
        Fault.REQUEST,
        _("Not from this state"),
        _("A problem that is %(before)s does not become %(after)s."),
        _("Open it again: somebody may have moved it meanwhile."),
    ),
    (
        Code.PROBLEM_DUTY,
        403,
        Fault.POLICY,
        _("Another duty decides here"),
        _(
            "In this state a problem is moved by those whose duty it is, and after its deadline by one more duty."
        ),
        _("The problem's page says whose turn it is."),
    ),
    (
        Code.PROBLEM_NOT_MENDED,
        409,
        Fault.REQUEST,
        _("That version does not have it mended"),
        _(
            "A problem is settled by a later frozen version that holds the task in another form, or not at all."
        ),
        _("Freeze the version with the fix first, and name it here."),
    ),
    (
        Code.REGRADE_NOT_DUE,
        409,
        Fault.REQUEST,
        _("Nothing to grade again"),
        _("Only a released result is graded again, for a ruling or for a settled defect."),
        _("Wait for the release, or name what it is graded again for."),
    ),
    (
        Code.REGRADE_UNDER_WAY,
        409,
        Fault.REQUEST,
        _("It is being graded again already"),
        _("The submission is being graded again; its corrected values come with that."),
        _("Wait until that has ended."),
    ),
]
