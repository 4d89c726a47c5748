"""Why a submission is not admitted."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

_NEXT_VERSION = _(
    "The count starts anew with the next task-set version. A reserved use comes back if its submission ends before "
    "held-out tasks start."
)

ROWS: list[Row] = [
    (
        Code.NOT_ENTITLED,
        403,
        Fault.POLICY,
        _("Not entitled"),
        _("Task-set version %(task_set)s takes no submissions from you. Nothing was charged."),
        _("The versions that are open: GET /api/v1/task-sets"),
    ),
    (
        Code.ADMISSION_STOPPED,
        403,
        Fault.POLICY,
        _("Admission stopped"),
        _("Not accepted: %(cause)s. Nothing was charged."),
        _("Where a date is named, submit again from then on."),
    ),
    (
        Code.INTAKE_PAUSED,
        503,
        Fault.PLATFORM,
        _("Intake is paused"),
        _("Not accepted: the platform takes no new submissions for now. Nothing was charged."),
        _("Submit again later. What is under way goes on, and an upload keeps until it expires."),
    ),
    (
        Code.QUOTA_LINE,
        429,
        Fault.POLICY,
        _("Submissions of this harness are used up"),
        _(
            "Not accepted: %(used)s of %(limit)s submissions of this harness are used for this version. "
            "Nothing was charged."
        ),
        _NEXT_VERSION,
    ),
    (
        Code.QUOTA_LINEAGE,
        429,
        Fault.POLICY,
        _("Submissions of your organisation are used up"),
        _(
            "Not accepted: %(used)s of %(limit)s submissions of your organisation and its linked accounts are used "
            "for this version. Nothing was charged."
        ),
        _NEXT_VERSION,
    ),
    (
        Code.QUOTA_ACCOUNT,
        429,
        Fault.POLICY,
        _("Submissions of your account are used up"),
        _(
            "Not accepted: %(used)s of %(limit)s submissions of your account are used for this version. "
            "Nothing was charged."
        ),
        _NEXT_VERSION,
    ),
    (
        Code.IN_FLIGHT,
        429,
        Fault.POLICY,
        _("A submission of this harness is in flight"),
        _(
            "Not accepted: %(used)s of %(limit)s submissions of this harness are in flight at this moment. "
            "Nothing was charged."
        ),
        _("Submit again when it has ended, or cancel it."),
    ),
    (
        Code.COOLDOWN,
        429,
        Fault.POLICY,
        _("Cooldown"),
        _("Not accepted: cooldown until %(time)s. Nothing was charged."),
        _("Submit again from that instant on."),
    ),
    (
        Code.PREFLIGHT_CEILING,
        429,
        Fault.POLICY,
        _("Preflights of this week are used up"),
        _(
            "Not accepted: this harness had %(used)s of %(limit)s preflights within seven days. "
            "Nothing was charged."
        ),
        _("Try the package on the public tasks on your own machine first."),
    ),
    (
        Code.PREFLIGHTS_IN_FLIGHT,
        429,
        Fault.POLICY,
        _("A preflight of your organisation is in flight"),
        _(
            "Not accepted: %(used)s of %(limit)s preflights of your organisation and its linked accounts are in "
            "flight at this moment. Nothing was charged."
        ),
        _("Start it when that one has ended, or cancel that one."),
    ),
    (
        Code.VERSION_TAKEN,
        409,
        Fault.HARNESS,
        _("This version has another package"),
        _("Version %(version)s was submitted with another package already. Nothing was charged."),
        _("Register the changed package under a new version."),
    ),
    (
        Code.RERUN_USED,
        409,
        Fault.POLICY,
        _("The re-run that was offered is used"),
        _("This offer of a re-run was taken by another submission already. Nothing was charged."),
        _(
            "Submit within your quota. The offer opens again if that submission ends before held-out tasks start, or "
            "if its use is returned."
        ),
    ),
    (
        Code.RERUN_OVER,
        409,
        Fault.POLICY,
        _("The offer of a re-run is over"),
        _("This offer of a re-run has expired, or was withdrawn with its version. Nothing was charged."),
        _("Submit within your quota."),
    ),
    (
        Code.RERUN_OTHER_COMBINATION,
        409,
        Fault.REQUEST,
        _("The re-run was offered for something else"),
        _("This offer of a re-run is for another harness version or task-set version. Nothing was charged."),
        _("Name the harness version and the task-set version that the offer names."),
    ),
    (
        Code.RERUN_OTHER_PACKAGE,
        409,
        Fault.HARNESS,
        _("Not the package whose result was published"),
        _(
            "A re-run that was offered is of the very package whose result was published; this one has another "
            "SHA-256. Nothing was charged."
        ),
        _("Upload that package again, byte for byte, or submit the changed one within your quota."),
    ),
    (
        Code.IDENTICAL_IN_FLIGHT,
        409,
        Fault.REQUEST,
        _("The same package is being evaluated"),
        _("Your organisation has an identical submission in flight. Nothing was charged."),
        _(
            "Follow that submission; its result will answer this request too. In the API `instance` is its address."
        ),
    ),
]
