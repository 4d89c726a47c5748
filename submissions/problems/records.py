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
]
